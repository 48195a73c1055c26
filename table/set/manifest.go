package set

// A Manifest lists the tables of a set, in the order of their keys. The ranges of keys of the
// tables do not overlap. Keys are user keys in the bytewise order.
type Manifest struct {
	Tables []Table
}

// A Table says what a manifest has about one table.
type Table struct {
	// Name of the table: what a [Source] is asked for. See CheckName.
	Name string `json:"name"`

	// Size of the table, in bytes.
	Size int64 `json:"size"`

	// SHA256 is the SHA-256 of the table's bytes, in 64 lowercase hexadecimal digits.
	SHA256 string `json:"sha256"`

	// Entries is how many entries the table has. Of a table that has a filter only, it is how
	// many keys the filter has.
	Entries uint64 `json:"entries"`

	// Smallest and Largest are the first and the last key of the table.
	Smallest []byte `json:"smallest"`
	Largest  []byte `json:"largest"`

	// TailSize is how many bytes at the end of the table have its filters, metaindex, index
	// and footer: what is read when the table is opened.
	TailSize int64 `json:"tailSize"`
}
