// Package merged lets package merge tell an iterator of package table that it is merged with others.
package merged

// Mark marks an iterator if it is from package table, which sets this variable.
var Mark = func(iterator any) {}
