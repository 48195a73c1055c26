// Package cxxcursor has what cursors of C++ LevelDB and RocksDB do alike, in C++: cursor.h. A package whose
// C++ includes it imports this one, and so is built again when the header changes.
package cxxcursor

import _ "embed"

// Header is cursor.h. It is here so that this package is another one when the header changes.
//
//go:embed cursor.h
var Header string
