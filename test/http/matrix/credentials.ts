/** Every credential, and the result that an operation's declaration prescribes for it. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { asConsumer, asServer, type Call } from "../support/usherFixture.ts"
import type { Operation, Scheme } from "./operations.ts"
import { brokenGateKeys, brokenKeys, brokenTokens, rotated, type Side, type Tenancy, type World } from "./world.ts"

/** The parts of a credential by scheme: the tenant of a valid part, or `bad` for an invalid one. */
export type Shown = { readonly [S in Scheme]?: Tenancy | "bad" }

export interface Credential {
  readonly name: string
  readonly headers: NonNullable<Call["headers"]>
  readonly shown: Shown
  /** Whether it is valid for another operation: a publishable key or a token where the secret key is required. */
  readonly isGoodElsewhere?: boolean
}

/** True of an operation that needs no credential, and ignores those that it gets. */
const isOpen = (requirement: Operation["requirement"]): boolean => requirement.some((all) => all.length === 0)

/** Returns whether the operation accepts the credential, and as which tenant. */
export function outcome({ requirement }: Operation, shown: Shown): Tenancy | "refused" {
  if (isOpen(requirement)) return "own"
  const accepted = new Set(requirement.flat())
  const relevant = Object.entries(shown).filter(([scheme]) => accepted.has(scheme as Scheme))
  const isMet = requirement.some((all) => all.every((scheme) => relevant.some(([name]) => name === scheme)))
  // A server's consumer id is an input, not a proof.
  const tenancies = new Set(relevant.filter(([scheme]) => scheme !== "consumerId").map(([, tenancy]) => tenancy))
  const [tenancy] = tenancies
  if (!isMet || tenancies.size !== 1 || tenancy === undefined || tenancy === "bad") return "refused"
  return tenancy
}

/** Returns the error of a refused credential. */
export function refusal({ requirement }: Operation, { isGoodElsewhere }: Credential): string {
  const needsSecret = requirement.length === 1 && requirement[0]!.join() === "secretKey"
  return needsSecret && isGoodElsewhere === true ? "Secret key required" : "Authentication required"
}

const bearer = (text: string) => ({ authorization: `Bearer ${text}` })
const publishable = (text: string) => ({ "x-publishable-key": text })

/** Returns the credentials that are valid for some operation. */
export function goodCredentials({ sides, otherToken }: World): ReadonlyArray<Credential> {
  const each = (tenancy: Tenancy): ReadonlyArray<Credential> => {
    const { publishableKey, secretKey, accessToken, consumerId, gateKey }: Side = sides[tenancy]
    return [
      {
        name: `${tenancy} publishable key`,
        headers: publishable(publishableKey),
        shown: { publishableKey: tenancy },
        isGoodElsewhere: true
      },
      {
        name: `${tenancy} token`,
        headers: bearer(accessToken),
        shown: { accessToken: tenancy },
        isGoodElsewhere: true
      },
      {
        name: `${tenancy} publishable key and token`,
        headers: asConsumer(publishableKey, accessToken),
        shown: { publishableKey: tenancy, accessToken: tenancy },
        isGoodElsewhere: true
      },
      { name: `${tenancy} secret key`, headers: asServer(secretKey), shown: { secretKey: tenancy } },
      {
        name: `${tenancy} secret key for a consumer`,
        headers: asServer(secretKey, consumerId),
        shown: { secretKey: tenancy, consumerId: tenancy }
      },
      { name: `${tenancy} gate's key`, headers: bearer(gateKey), shown: { gateKey: tenancy } },
      {
        name: `${tenancy} gate's key for a consumer`,
        headers: asServer(gateKey, consumerId),
        shown: { gateKey: tenancy, consumerId: tenancy }
      }
    ]
  }
  const { own } = sides
  return [
    ...each("foreign"),
    ...each("test"),
    ...each("own"),
    {
      name: "own publishable key and another consumer's token",
      headers: asConsumer(own.publishableKey, otherToken),
      shown: { publishableKey: "own", accessToken: "own" },
      isGoodElsewhere: true
    }
  ]
}

/** Returns invalid credentials and invalid combinations. Rotates the world's live keys. */
export const badCredentials = Effect.fnUntraced(function* (before: World) {
  const { former, world } = yield* rotated(before)
  const { own, test, foreign } = world.sides
  const found: Array<Credential> = [
    { name: "nothing", headers: {}, shown: {} },
    { name: "an empty publishable key", headers: publishable(""), shown: { publishableKey: "bad" } },
    { name: "an empty bearer", headers: { authorization: "Bearer " }, shown: { accessToken: "bad" } },
    { name: "a bearer without a scheme", headers: { authorization: own.secretKey }, shown: {} },
    { name: "a secret key by another scheme", headers: { authorization: `Basic ${own.secretKey}` }, shown: {} },
    {
      name: "a publishable key as bearer",
      headers: { ...bearer(own.publishableKey), "x-consumer-id": own.consumerId },
      shown: { secretKey: "bad", consumerId: "own" },
      isGoodElsewhere: true
    },
    {
      name: "a secret key as publishable key",
      headers: publishable(own.secretKey),
      shown: { publishableKey: "bad" },
      isGoodElsewhere: true
    }
  ]
  const publishableKeys = { rotated: former.publishableKey, ...brokenKeys(own.publishableKey) }
  for (const [state, key] of Object.entries(publishableKeys)) {
    const name = `a publishable key that is ${state}`
    found.push({ name, headers: publishable(key), shown: { publishableKey: "bad" } })
  }
  found.push({
    name: "a rotated publishable key and a good token",
    headers: asConsumer(former.publishableKey, own.accessToken),
    shown: { publishableKey: "bad", accessToken: "own" },
    isGoodElsewhere: true
  })
  found.push({
    name: "a secret key as publishable key and a good token",
    headers: asConsumer(own.secretKey, own.accessToken),
    shown: { publishableKey: "bad", accessToken: "own" },
    isGoodElsewhere: true
  })
  const secretKeys = { rotated: former.secretKey, ...brokenKeys(own.secretKey) }
  for (const [state, key] of Object.entries(secretKeys)) {
    const headers = asServer(key, own.consumerId)
    found.push({ name: `a secret key that is ${state}`, headers, shown: { secretKey: "bad", consumerId: "own" } })
  }
  for (const [state, key] of Object.entries(yield* brokenGateKeys(world))) {
    const headers = asServer(key, own.consumerId)
    found.push({ name: `a gate's key: ${state}`, headers, shown: { gateKey: "bad", consumerId: "own" } })
  }
  found.push({
    name: "a gate's key as publishable key",
    headers: publishable(own.gateKey),
    shown: { publishableKey: "bad" }
  })
  for (const [state, token] of Object.entries(yield* brokenTokens(world))) {
    found.push(
      { name: `a token: ${state}`, headers: bearer(token), shown: { accessToken: "bad" } },
      {
        name: `a good publishable key, and a token: ${state}`,
        headers: asConsumer(own.publishableKey, token),
        shown: { publishableKey: "own", accessToken: "bad" }
      }
    )
  }
  for (const [key, token] of [
    ["own", "foreign"],
    ["own", "test"],
    ["foreign", "own"],
    ["test", "own"]
  ] as const) {
    found.push({
      name: `${key} publishable key and ${token} token`,
      headers: asConsumer(world.sides[key].publishableKey, world.sides[token].accessToken),
      shown: { publishableKey: key, accessToken: token },
      isGoodElsewhere: true
    })
  }
  return { world, credentials: found, strangers: [test.consumerId, foreign.consumerId, randomUUID()] }
})
