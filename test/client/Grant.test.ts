/** The guard of a shop's pages: which requests it lets through, and where it sends others. */
import { assert, describe, it } from "@effect/vitest"
import type { KeyObject } from "node:crypto"
import { createGrantGuard } from "../../src/client/grant.ts"
import { encoded, grantClaims, otherPair, pair, signedGrant } from "../support/signedGrant.ts"

const start = Date.parse("2026-11-22T12:00:00.000Z")
const shop = "https://shop.example.com"
const room = `https://usher.example.com/e/drop?return=${encodeURIComponent(`${shop}/checkout?size=42`)}`

const claims = { ...grantClaims, experienceId: "drop", exp: start / 1000 + 600 }

const token = (changes: object = {}, key?: KeyObject): string => signedGrant({ ...claims, ...changes }, key)

/** A guard at a clock that the test sets, with the keys that Usher publishes at the moment. */
const guarded = (origin?: string) => {
  const at = { now: start, keys: [pair.publicKey], isAway: false, reads: 0 }
  const guard = createGrantGuard({
    url: "https://usher.example.com/",
    organizationId: "brand",
    protects: ({ url }) => (new URL(url).pathname === "/" ? undefined : "drop"),
    now: () => at.now,
    ...(origin !== undefined && { origin }),
    fetch: async (url) => {
      at.reads += 1
      assert.strictEqual(url, "https://usher.example.com/.well-known/jwks.json")
      if (at.isAway) throw new TypeError("fetch failed")
      return Response.json({ keys: at.keys.map((key) => key.export({ format: "jwk" })) })
    }
  })
  const ask = (request: Request) => guard(request, () => new Response("sold"))
  const visit = (grant?: string, name = "__Host-usher-grant-drop") =>
    ask(
      new Request(
        `${shop}/checkout?size=42`,
        grant === undefined ? {} : { headers: { cookie: `a=b; ${name}=${grant}` } }
      )
    )
  const post = (grant: string, path = "/checkout?size=42") =>
    ask(new Request(`${shop}${path}`, { method: "POST", body: new URLSearchParams({ usher_grant: grant }) }))
  return { at, ask, visit, post }
}

const assertRefused = (response: Response) => {
  assert.deepStrictEqual([response.status, response.headers.get("location")], [303, room])
  assert.strictEqual(response.headers.get("cache-control"), "no-store")
  assert.isNull(response.headers.get("set-cookie"))
}

const assertSold = async (response: Response) => assert.strictEqual(await response.text(), "sold")

describe("the guard", () => {
  it("lets a visitor with a grant through, and every visitor to unprotected paths", async () => {
    const { at, ask, visit } = guarded()
    await assertSold(await ask(new Request(`${shop}/`)))
    assert.strictEqual(at.reads, 0)
    await assertSold(await visit(token()))
    assertRefused(await visit())
  })

  it("takes a posted grant into a cookie of the shop, and leads to the same page", async () => {
    const response = await guarded().post(token())
    assert.deepStrictEqual([response.status, response.headers.get("location")], [303, "/checkout?size=42"])
    assert.strictEqual(
      response.headers.get("set-cookie"),
      `__Host-usher-grant-drop=${token()}; Path=/; HttpOnly; SameSite=Lax; Secure; Max-Age=600`
    )
  })

  it("never leads to another host, whatever the path", async () => {
    const { post, ask } = guarded()
    assert.strictEqual((await post(token(), "//evil.example.com/a")).headers.get("location"), "/evil.example.com/a")
    assert.strictEqual((await post(token(), "/\\evil.example.com")).headers.get("location"), "/evil.example.com")
    const refused = await ask(new Request(`${shop}//evil.example.com`))
    const location = new URL(refused.headers.get("location")!)
    assert.strictEqual(location.origin, "https://usher.example.com")
    assert.strictEqual(location.searchParams.get("return"), `${shop}//evil.example.com`)
  })

  it("names the shop's own origin where a proxy hides it", async () => {
    const response = await guarded("https://www.brand.example.com").visit()
    const back = new URL(response.headers.get("location")!).searchParams.get("return")
    assert.strictEqual(back, "https://www.brand.example.com/checkout?size=42")
  })

  it("refuses a value that is no grant for the path, as a cookie and as a form", async () => {
    const [header, payload, signature] = token().split(".") as [string, string, string]
    const bad = {
      expired: token({ exp: start / 1000 }),
      "of another organization": token({ organizationId: "other" }),
      "of another experience": token({ experienceId: "other" }),
      "of another key": token({}, otherPair.privateKey),
      tampered: `${header}.${encoded({ ...claims, consumerId: "eve" })}.${signature}`,
      "without a signature": `${header}.${payload}.`,
      "of another type": token({ type: "access" }),
      "with more after it": `${token()}%0D%0ASet-Cookie:x=y`,
      empty: "",
      long: "x".repeat(5_000)
    }
    const { visit, post } = guarded()
    for (const grant of Object.values(bad)) {
      assertRefused(await visit(grant))
      assertRefused(await post(grant))
    }
    assertRefused(await visit(token(), "usher-grant-drop"))
  })

  it("reads the keys once in 300 seconds, believes a new key at once, and no longer a removed one", async () => {
    const { at, visit } = guarded()
    for (let visits = 0; visits < 5; visits++) await assertSold(await visit(token()))
    assert.strictEqual(at.reads, 1)
    at.now += 20_000
    at.keys = [pair.publicKey, otherPair.publicKey]
    await assertSold(await visit(token({}, otherPair.privateKey)))
    assert.strictEqual(at.reads, 2)
    at.keys = [otherPair.publicKey]
    await assertSold(await visit(token()))
    at.now += 300_000
    assertRefused(await visit(token()))
    await assertSold(await visit(token({}, otherPair.privateKey)))
  })

  it("does not ask Usher for each forged token", async () => {
    const { at, visit } = guarded()
    for (let visits = 0; visits < 20; visits++) assertRefused(await visit(token({}, otherPair.privateKey)))
    assert.isAtMost(at.reads, 2)
  })

  it("uses the known keys for an hour while Usher is unreachable, and without any admits no visitor", async () => {
    const { at, visit } = guarded()
    await assertSold(await visit(token({ exp: undefined })))
    at.isAway = true
    at.now += 3_000_000
    await assertSold(await visit(token({ exp: undefined })))
    at.now += 3_000_000
    assertRefused(await visit(token({ exp: undefined })))
    at.isAway = false
    at.now += 20_000
    await assertSold(await visit(token({ exp: undefined })))
    const other = guarded()
    other.at.isAway = true
    assertRefused(await other.visit(token()))
  })
})
