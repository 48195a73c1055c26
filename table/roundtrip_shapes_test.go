package table_test

import (
	"fmt"
	"strings"
)

// shape is how many entries a table has, and what they are.
type shape struct {
	name  string
	large bool // takes seconds
	many  bool // bytes of keys
	n     int
	key   func(i int) string
	size  int // of a value
}

// shapes are extreme, and were refused by Readers once.
var shapes = []shape{
	{name: "nothing", n: 0},
	{name: "the empty key", n: 1, key: func(int) string { return "" }},
	{name: "one key of 8 MB", n: 1, key: func(int) string { return strings.Repeat("k", 8_000_000) }},
	{name: "20 keys of 70 kB", n: 20, key: numberedKey(70_000)},
	{name: "400 keys of 10 kB", n: 400, key: numberedKey(10_000)},
	{large: true, name: "3 keys of 5 MiB", n: 3, key: numberedKey(5 << 20)},
	{large: true, name: "3 keys of 5 MiB that differ at the start", n: 3, key: func(i int) string { return fmt.Sprint(i) + strings.Repeat("k", 5<<20) }},
	{large: true, name: "40 keys of 1 MiB", n: 40, key: numberedKey(1 << 20), many: true},
	{large: true, name: "3,000 keys of 2 kB", n: 3000, key: numberedKey(2042), many: true},
	{large: true, name: "keys that grow", n: 100, key: func(i int) string { return strings.Repeat("k", 1000*i) }},
	{large: true, name: "a key of one byte, and others of 2 MiB", n: 3, key: func(i int) string { return "k" + strings.Repeat("l", min(i, 1)*2<<20) + fmt.Sprint(i) }},
	{large: true, name: "values of 3 MB", n: 5, key: numberedKey(10), size: 3_000_000},
	{large: true, name: "30,000 short keys", n: 30_000, key: numberedKey(8)},
}
