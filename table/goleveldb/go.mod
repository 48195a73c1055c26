module github.com/sievetable/sievetable/table/goleveldb

go 1.25

require (
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.17.11
	github.com/sievetable/sievetable v0.1.0
	github.com/syndtr/goleveldb v1.0.0
)

require github.com/golang/snappy v1.0.0 // indirect

replace github.com/sievetable/sievetable => ../..
