// Package merged tells an iterator of package table that package merge merges it with others.
package merged

// Mark marks an iterator, if it is one of package table, which sets Mark.
var Mark = func(iterator any) {}
