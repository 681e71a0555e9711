// Delivery, by whichever thread is there first.
#include "transports/store/inbox.hpp"

#include <utility>

namespace weft::transports {
namespace {

bool present(const Store::Listener& listener) { return listener.died || listener.message; }

}  // namespace

bool Inbox::push(Notice notice) {
  const std::lock_guard lock(mutex_);
  if (waiting_.size() >= kMaxWaitingNotices || waiting_bytes_ + notice.message.size() > kMaxWaitingBytes) return false;
  waiting_bytes_ += notice.message.size();
  waiting_.push_back(std::move(notice));
  return true;
}

void Inbox::deliver() {
  std::unique_lock lock(mutex_);
  if (delivering_) return;
  delivering_ = true;
  deliverer_ = std::this_thread::get_id();
  while (present(listener_) && !waiting_.empty() && changing_ == 0) {
    const Notice notice = std::move(waiting_.front());
    waiting_.pop_front();
    waiting_bytes_ -= notice.message.size();
    lock.unlock();
    call(notice);
    lock.lock();
    if (replacement_) listener_ = *std::exchange(replacement_, std::nullopt);
  }
  delivering_ = false;
  lock.unlock();
  idle_.notify_all();
}

void Inbox::listen(Store::Listener listener) {
  {
    std::unique_lock lock(mutex_);
    if (delivering_ && deliverer_ == std::this_thread::get_id()) {
      replacement_ = std::move(listener);
      return;
    }
    ++changing_;
    idle_.wait(lock, [this] { return !delivering_; });
    --changing_;
    listener_ = std::move(listener);
  }
  deliver();
}

void Inbox::call(const Notice& notice) const {
  if (notice.death) {
    if (listener_.died) listener_.died(notice.rank);
  } else if (listener_.message) {
    listener_.message(notice.rank, notice.message);
  }
}

}  // namespace weft::transports
