import json
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).parents[4] / "src/gates/python"))
import gate  # noqa: E402

if "--with-cryptography" not in sys.argv:
    gate.is_signature = gate.is_signature_here
elif gate.is_signature is gate.is_signature_here:
    sys.exit(9)
file = json.loads(pathlib.Path(sys.argv[1]).read_text())
decisions = []
for case in file["cases"]:
    knowledge = gate.Gate(
        file["gates"][case["gate"]],
        file["keys"][case.get("keys", "published")],
        case.get("ended", []),
        case.get("isReachable", True),
        case.get("now", file["now"]),
        file["newState"],
    )
    if "answer" in case:
        decisions.append(knowledge.settle(case["request"], case["answer"]))
    else:
        decisions.append(knowledge.decide(case["request"]))
print(json.dumps(decisions))
