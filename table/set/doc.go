// Package set asks many tables as one: tables that each have a range of the keys, such as those
// of ten billion URLs in ten thousand tables. They may be in a directory or in object storage.
package set
