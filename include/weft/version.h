/* The version of the headers a program was compiled against, in C and C++. */
#ifndef WEFT_VERSION_H_
#define WEFT_VERSION_H_

#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION_STRING "0.1.0"

/* One number for each version, in their order: #if WEFT_VERSION_CODE >= WEFT_VERSION(0, 2, 0). */
#define WEFT_VERSION(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define WEFT_VERSION_CODE WEFT_VERSION(WEFT_VERSION_MAJOR, WEFT_VERSION_MINOR, WEFT_VERSION_PATCH)

#endif
