package main

import (
	"fmt"
	"net"
	"net/http"
	"os"

	"vectors/gate"
)

// A site of one page behind a gate: site URL GATE KEY. Prints its port.
func main() {
	field := &gate.Field{URL: os.Args[1], GateID: os.Args[2], Key: os.Args[3]}
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "own=1")
		fmt.Fprint(w, "the site")
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	panic(http.Serve(listener, field.Handler(site)))
}
