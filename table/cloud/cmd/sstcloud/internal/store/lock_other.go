//go:build !unix || illumos || solaris || aix

package store

import "os"

// lockFlags are those of package flock for systems that lock only what can be written.
const lockFlags = os.O_CREATE | os.O_RDWR
