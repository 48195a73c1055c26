//go:build !unix

package regular

const withoutWaiting = 0 // there are no pipes among the files of these systems
