// Helpers for the programs that tests run. Numbers are read and written as u32le.

#ifndef SIEVETABLE_COMMON_H_
#define SIEVETABLE_COMMON_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

// Check ends the program unless s, a status of an engine, is OK.
template <typename Status>
void Check(const Status& s) {
  if (!s.ok()) {
    std::fprintf(stderr, "%s\n", s.ToString().c_str());
    std::exit(2);
  }
}

inline bool ReadU32(uint32_t* v) {
  unsigned char b[4];
  if (std::fread(b, 1, 4, stdin) != 4) return false;
  *v = b[0] | b[1] << 8 | b[2] << 16 | static_cast<uint32_t>(b[3]) << 24;
  return true;
}

inline std::string ReadString(uint32_t n) {
  std::string s(n, '\0');
  if (std::fread(&s[0], 1, n, stdin) != n) {
    std::fprintf(stderr, "input ends early\n");
    std::exit(2);
  }
  return s;
}

inline void WriteU32(uint32_t v) {
  for (int i = 0; i < 4; i++) std::putchar(v >> (8 * i) & 0xff);
}

template <typename Slice>
void WritePair(const Slice& key, const Slice& value) {
  WriteU32(key.size());
  WriteU32(value.size());
  std::fwrite(key.data(), 1, key.size(), stdout);
  std::fwrite(value.data(), 1, value.size(), stdout);
}

#endif  // SIEVETABLE_COMMON_H_
