module github.com/sievetable/sievetable/table/codecs

go 1.25.0

require (
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.17.11
	github.com/sievetable/sievetable v0.1.0
)

require github.com/golang/snappy v1.0.0 // indirect
