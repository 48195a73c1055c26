// What ldbtool and dbtool both need. Numbers come as u32le.

#ifndef SIEVETABLE_COMMON_H_
#define SIEVETABLE_COMMON_H_

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "leveldb/status.h"

inline void Check(const leveldb::Status& s) {
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
  if (std::fread(&s[0], 1, n, stdin) != n)
    Check(leveldb::Status::IOError("input ends early"));
  return s;
}

#endif  // SIEVETABLE_COMMON_H_
