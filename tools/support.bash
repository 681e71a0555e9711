# What tools/quickstart, tools/test and .ci/run share: numbered steps with elapsed time, quiet builds that show progress, and a
# last line that says what happened. Sourced, never run. The caller sets program_name, step_count and log.
# shellcheck disable=SC2154  # those three

started=$SECONDS
step_number=0
step_title=""

elapsed() { printf '%dm%02ds' $(((SECONDS - started) / 60)) $(((SECONDS - started) % 60)); }

step() {
  step_number=$((step_number + 1))
  step_title=$1
  printf '\n[%d/%d] %s (%s elapsed)\n' "$step_number" "$step_count" "$step_title" "$(elapsed)"
}

# fail ADVICE: the one closing line of a run that did not succeed.
fail() {
  printf '\n%s: FAILED at step %d of %d (%s) after %s. %s\n' "$program_name" "$step_number" "$step_count" "$step_title" \
    "$(elapsed)" "$1" >&2
  exit 1
}

# As many compilers as cores, but one for each GiB of free memory: a compiler needs about that much.
build_jobs() {
  local cores memory
  cores=$(nproc)
  memory=$(awk '/^MemAvailable:/ {print int($2 / 1048576)}' /proc/meminfo)
  ((memory < 1)) && memory=1
  echo $((cores < memory ? cores : memory))
}

# quietly COMMAND...: its output goes to $log; the newest line is shown while it runs (every 15 s where there is no terminal), and
# the end of the output if it fails.
quietly() {
  local child status=0 shown=$SECONDS from line
  mkdir -p "$(dirname "$log")"
  touch "$log"
  from=$(($(wc -l <"$log") + 1))
  set -m  # a process group of its own, so that an interrupt ends the compilers too
  "$@" >>"$log" 2>&1 </dev/null &
  child=$!
  set +m
  # shellcheck disable=SC2064  # the child of now
  trap "kill -- -$child 2>/dev/null; exit 130" INT TERM
  while kill -0 "$child" 2>/dev/null; do
    sleep 0.2
    line=$(tail -n 1 "$log" | tr -d '\r' | cut -c1-110)
    if [[ -t 1 ]]; then
      printf '\r\033[K  %s' "$line"
    elif ((SECONDS - shown >= 15)); then
      shown=$SECONDS
      printf '  %s  %s\n' "$(elapsed)" "$line"
    fi
  done
  wait "$child" || status=$?
  trap - INT TERM
  [[ -t 1 ]] && printf '\r\033[K'
  if ((status != 0)); then
    tail -n "+$from" "$log" | grep -E 'error|Error|FAILED|undefined reference' | head -n 20 || true
    printf '  --- the last lines of %s ---\n' "$log"
    tail -n "+$from" "$log" | tail -n 30
  fi
  return "$status"
}

# configure_and_build PRESET [TARGET...]: a changed or moved tree configures anew by itself.
configure_and_build() {
  local preset=$1
  shift
  quietly cmake --preset "$preset" || return
  quietly cmake --build --preset "$preset" -j "$(build_jobs)" ${1:+--target "$@"}
}
