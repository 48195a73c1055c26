// Package peers holds this module's tables and filters against other engines:
// its tests exchange files with goleveldb and C++ LevelDB, both ways, and its
// command goldens has them write the golden tables under testdata.
//
// It is a module of its own, so that no embedder of the library depends on its
// peers. The tests that need C++ LevelDB are skipped where it is not installed
// (Debian: apt-get install g++ libleveldb-dev), unless SIEVETABLE_LEVELDB is
// set to "required", which makes them fail there.
package peers
