// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** A gate in front of a site, and the requests of its organization and of the gate itself. */
import { Effect } from "effect"
import { asServer, type Call, Usher } from "./usherFixture.ts"

/** Creates a queue in front of a site, and a gate whose rules protect the checkout with it. */
export const aGate = Effect.fnUntraced(function* (settings: object = {}, queueSettings: object = {}) {
  const { admin, brand, consumer, queue } = yield* Usher
  const queueId = yield* queue({
    admitRate: 6_000,
    standby: true,
    admissionRenewal: { idleSeconds: 60, maxSeconds: 3_600 },
    ...queueSettings
  })
  const byBrand = (method: string, path: string, body?: unknown, secretKey = brand.secretKey) =>
    admin({ method, path: `/api${path}`, headers: asServer(secretKey), body })
  const rules = [{ name: "Checkout", when: { pathPrefix: "/checkout" }, then: { queueId } }]
  const created = yield* byBrand("POST", "/gates", { name: "Shop", hosts: ["shop.example"], rules, ...settings })
  const { id, key } = created.body as { readonly id: string; readonly key: string }
  const byGate = (path: string, call: Omit<Call, "path"> = {}, as = key) =>
    consumer({ ...call, path: `/api${path}`, headers: { authorization: `Bearer ${as}`, ...call.headers } })
  return { id, key, queueId, rules, created, byBrand, byGate }
})
