/** Tries what a gate does with a request: with the decision that gates in the field have. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { SigningKeys } from "../../../auth/keys/SigningKeys.ts"
import type { GateTest } from "../../../api/admin/GateApi.ts"
import { type Decision, decide, type GateRecord, type GateRequest, importKeys } from "../../../client/gate.ts"
import { ruleFor } from "../../../client/gateRules.ts"
import type { Gate } from "../../../domain/gate/Gate.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import * as GateRecords from "../../gate/GateRecords.ts"
import { issueAt } from "../../errors/Issues.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { invalidInput } from "../../errors/Validation.ts"
import * as Time from "../../../store/coordination/Time.ts"

interface Tried {
  readonly method: string
  readonly url: string
  readonly headers?: { readonly [name: string]: string }
}

/** Makes the function that tries a request. */
export const make = Effect.gen(function* () {
  const recordOf = yield* GateRecords.make
  const keys = yield* SigningKeys

  return Effect.fnUntraced(function* (tenant: Tenant, gate: Gate, tried: Tried) {
    const request = requestOf(tried)
    if (request === undefined) return yield* invalidInput([notAbsolute(tried)])
    const record: GateRecord = yield* orAnswer("queue")(recordOf(tenant, gate))
    const knowledge = {
      gate: record,
      keys: yield* Effect.promise(() => importKeys({ keys: keys.jwks })),
      ended: new Set<string>(),
      isReachable: true,
      now: yield* Time.now,
      newState: randomUUID()
    }
    const decision = yield* Effect.promise(() => decide(knowledge, request))
    return answerOf(record, request, decision)
  })
})

const requestOf = ({ method, url, headers = {} }: Tried): GateRequest | undefined => {
  const target = /^https?:\/\//i.test(url) ? URL.parse(url) : null
  if (target === null) return undefined
  const lower = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const)
  return {
    method: method.toUpperCase(),
    // As it was sent: a gate also decides about spellings that `URL` resolves.
    target: url.replace(/^https?:\/\/[^/?#]*/i, "").split("#", 1)[0] || "/",
    headers: { host: target.host, accept: "text/html", ...Object.fromEntries(lower) }
  }
}

const notAbsolute = ({ url }: Tried) =>
  issueAt({ url }, "url", { kind: "validation", type: "string", expected: "an absolute URL of http or https" })

const answerOf = (gate: GateRecord, request: GateRequest, decision: Decision): GateTest => {
  const rule = ruleFor(gate.rules, request)
  const index = rule === undefined ? -1 : gate.rules.indexOf(rule)
  return {
    rule: rule === undefined ? null : { index, name: rule.name ?? null },
    decision: decision.kind,
    reason: reasonOf(decision, rule === undefined ? "none" : rule.then === "pass" ? "lets pass" : "protects")
  }
}

const reasonOf = (decision: Decision, rule: "none" | "lets pass" | "protects"): string => {
  switch (decision.kind) {
    case "pass":
      if (decision.jti !== undefined) return "A cookie has a valid grant."
      if (rule === "none") return "No rule fits."
      if (rule === "lets pass") return "The rule lets it pass."
      return "The queue has ended, and the rule lets pass then; or it is not known, and the rule fails open."
    case "ask":
      return "The queue is not engaged: a new visitor passes, or waits if rate and limit do not allow more."
    case "return":
      return "It is the return path."
    case "room":
      return "The queue is engaged: the browser goes to the room."
    case "wait":
      return "The queue is engaged, and the request is not a navigation: it is told to wait."
    case "closed":
      return decision.because === "ended"
        ? "The queue has ended."
        : "The queue is not known, and the rule fails closed."
  }
}
