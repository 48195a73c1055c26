package main

import (
	"log"
	"os"

	"github.com/sievetable/sievetable/bench/peers/internal/report"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("peers: ")
	if len(os.Args) > 1 {
		log.Fatal("arguments are not used: go run ./bench/peers draws what bench/peers/lookups.txt has")
	}
	if err := report.Draw("."); err != nil {
		log.Fatal(err)
	}
}
