// Runs health checks as Argo CD does: with gopher-lua, in a state that has only the basic functions and those
// for tables. It reads a Request from standard input and writes one Health per object to standard output.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"time"

	lua "github.com/yuin/gopher-lua"
)

type Request struct {
	Script  string           `json:"script"`
	Objects []map[string]any `json:"objects"`
}

type Health struct {
	Status  string `json:"status"`
	Message string `json:"message"`
}

func main() {
	var request Request
	answer := []Health{}
	err := json.NewDecoder(os.Stdin).Decode(&request)
	for _, object := range request.Objects {
		var health Health
		if err == nil {
			health, err = run(request.Script, object)
			answer = append(answer, health)
		}
	}
	if err == nil {
		err = json.NewEncoder(os.Stdout).Encode(answer)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(script string, object map[string]any) (Health, error) {
	state := lua.NewState(lua.Options{SkipOpenLibs: true})
	defer state.Close()
	libraries := map[string]lua.LGFunction{
		lua.LoadLibName: lua.OpenPackage, lua.BaseLibName: lua.OpenBase, lua.TabLibName: lua.OpenTable,
	}
	for _, name := range []string{lua.LoadLibName, lua.BaseLibName, lua.TabLibName} {
		if err := state.CallByParam(lua.P{Fn: state.NewFunction(libraries[name]), Protect: true}, lua.LString(name)); err != nil {
			return Health{}, err
		}
	}
	limited, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	state.SetContext(limited)
	state.SetGlobal("obj", valueOf(state, object))
	if err := state.DoString(script); err != nil {
		return Health{}, err
	}
	result, isTable := state.Get(-1).(*lua.LTable)
	if !isTable {
		return Health{}, fmt.Errorf("the script returned no table")
	}
	return Health{lua.LVAsString(result.RawGetString("status")), lua.LVAsString(result.RawGetString("message"))}, nil
}

// valueOf converts a decoded JSON value into a Lua value.
func valueOf(state *lua.LState, value any) lua.LValue {
	switch each := value.(type) {
	case map[string]any:
		table := state.NewTable()
		for key, field := range each {
			table.RawSetString(key, valueOf(state, field))
		}
		return table
	case []any:
		table := state.NewTable()
		for _, item := range each {
			table.Append(valueOf(state, item))
		}
		return table
	case string:
		return lua.LString(each)
	case float64:
		return lua.LNumber(each)
	case bool:
		return lua.LBool(each)
	}
	return lua.LNil
}
