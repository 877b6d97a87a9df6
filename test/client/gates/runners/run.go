package main

import (
	"encoding/json"
	"os"

	"vectors/gate"
)

func main() {
	var file struct {
		Now      int64
		NewState string
		Keys  map[string]gate.KeySet
		Gates map[string]gate.Record
		Cases []struct {
			Gate, Keys  string
			Now         int64
			Ended       []string
			IsReachable *bool
			Request     gate.Request
			Answer      *gate.Answer
		}
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	if err := json.Unmarshal(text, &file); err != nil {
		panic(err)
	}
	decisions := []gate.Decision{}
	for _, one := range file.Cases {
		k := gate.Knowledge{Gate: file.Gates[one.Gate], Keys: file.Keys["published"], Ended: map[string]bool{}, Now: file.Now, NewState: file.NewState}
		if one.Keys != "" {
			k.Keys = file.Keys[one.Keys]
		}
		if one.Now != 0 {
			k.Now = one.Now
		}
		for _, jti := range one.Ended {
			k.Ended[jti] = true
		}
		k.Reachable = one.IsReachable == nil || *one.IsReachable
		if one.Answer != nil {
			decisions = append(decisions, k.Settle(one.Request, *one.Answer))
		} else {
			decisions = append(decisions, k.Decide(one.Request))
		}
	}
	_ = json.NewEncoder(os.Stdout).Encode(decisions)
}
