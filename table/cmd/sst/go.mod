module github.com/sievetable/sievetable/table/cmd/sst

go 1.25

require (
	github.com/google/go-cmp v0.7.0
	github.com/klauspost/compress v1.17.11
	github.com/rogpeppe/go-internal v1.16.0
	github.com/sievetable/sievetable v0.0.0
	github.com/spf13/cobra v1.10.2
)

require (
	github.com/golang/snappy v1.0.0 // indirect
	github.com/inconshreveable/mousetrap v1.1.0 // indirect
	github.com/spf13/pflag v1.0.9 // indirect
	golang.org/x/sys v0.26.0 // indirect
	golang.org/x/tools v0.26.0 // indirect
)

replace github.com/sievetable/sievetable => ../../..
