/** The text of `src/gates/vectors.json`: one case a line, so that a change shows as its case. */
import { answerCases } from "./answerCases.ts"
import { grantCases } from "./grantCases.ts"
import { requestCases } from "./requestCases.ts"
import { returnCases } from "./returnCases.ts"
import { formerKeySet, gates, keySet, newState, now } from "./vectorParts.ts"

const cases = [...grantCases, ...requestCases, ...returnCases, ...answerCases]

const line = (value: unknown) => JSON.stringify(value)

export const vectorFile = `{
"now": ${now},
"newState": ${line(newState)},
"keys": ${line({ published: keySet, former: formerKeySet })},
"gates": {
${Object.entries(gates)
  .map(([name, gate]) => `${line(name)}: ${line(gate)}`)
  .join(",\n")}
},
"cases": [
${cases.map(line).join(",\n")}
]
}
`
