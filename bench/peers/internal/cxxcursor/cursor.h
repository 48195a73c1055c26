// What cursors of LevelDB and RocksDB, whose iterators have the same methods,
// do alike. Functions that can fail return a message for Go to report and free,
// or null.

#ifndef SIEVETABLE_CURSOR_H_
#define SIEVETABLE_CURSOR_H_

#include <cstddef>
#include <cstring>

template <typename Status>
char* Message(const Status& s) {
  return s.ok() ? nullptr : strdup(s.ToString().c_str());
}

// Wrong is the message of a lookup with a wrong answer.
template <typename Status, typename Slice>
char* Wrong(const Slice& key, bool present) {
  return Message(Status::Corruption(
      key, present ? "was not found" : "was found, but is not there"));
}

// Scan goes over all entries, and counts the bytes of keys and values.
template <typename Iterator>
char* Scan(Iterator* it, bool backward, size_t* bytes) {
  size_t n = 0;
  if (backward) {
    for (it->SeekToLast(); it->Valid(); it->Prev())
      n += it->key().size() + it->value().size();
  } else {
    for (it->SeekToFirst(); it->Valid(); it->Next())
      n += it->key().size() + it->value().size();
  }
  *bytes = n;
  return Message(it->status());
}

// Seek moves to each key, all of which are there. At(keys, i) is key i.
template <typename Iterator, typename Packed>
char* Seek(Iterator* it, const Packed& keys) {
  for (size_t i = 0; i < keys.n; i++) {
    it->Seek(At(keys, i));
    if (!it->status().ok()) return Message(it->status());
    if (!it->Valid() || it->key() != At(keys, i))
      return Wrong<decltype(it->status())>(At(keys, i), true);
  }
  return nullptr;
}

#endif  // SIEVETABLE_CURSOR_H_
