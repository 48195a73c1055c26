package setio

import "github.com/apache/beam/sdks/v2/go/pkg/beam"

// The counters of a build, documented in the package comment.
var (
	keysRead      = beam.NewCounter("setio", "keys_read")
	keysWritten   = beam.NewCounter("setio", "keys_written")
	tablesWritten = beam.NewCounter("setio", "tables_written")
	tablesFound   = beam.NewCounter("setio", "tables_found")
	bytesWritten  = beam.NewCounter("setio", "bytes_written")
)
