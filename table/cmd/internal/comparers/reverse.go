package comparers

import "bytes"

// reverse is the reversed bytewise order.
var reverse = namedComparer{flagValue: "reverse", comparer: reverseComparer{}, aliases: []string{"rocksdb.ReverseBytewiseComparator"}}

type reverseComparer struct{}

func (reverseComparer) Compare(a, b []byte) int         { return bytes.Compare(b, a) }
func (reverseComparer) Name() string                    { return "leveldb.ReverseBytewiseComparator" }
func (reverseComparer) Separator(_, _, _ []byte) []byte { return nil }
func (reverseComparer) Successor(_, _ []byte) []byte    { return nil }
