/** The guard of a shop's pages: which requests it lets through, and where it sends others. */
import { assert, describe, it, vi } from "@effect/vitest"
import type { KeyObject } from "node:crypto"
import { createGrantGuard, type GuardSettings } from "../../src/client/grant.ts"
import { encoded, grantClaims, otherPair, pair, signedGrant } from "../support/signedGrant.ts"

const start = Date.parse("2026-11-22T12:00:00.000Z")
const shop = "https://shop.example.com"
const room = `https://usher.example.com/e/drop?return=${encodeURIComponent(`${shop}/checkout?size=42`)}`

const claims = { ...grantClaims, experienceId: "drop", exp: start / 1000 + 600 }

const token = (changes: object = {}, key?: KeyObject): string => signedGrant({ ...claims, ...changes }, key)

/** A guard at a clock that the test sets, with the keys that Usher publishes at the moment. */
const guarded = (settings: Pick<GuardSettings, "origin" | "mode"> = {}) => {
  const at = { now: start, keys: [pair.publicKey], isAway: false, isSilent: false, reads: 0, asked: 0, isAllowed: true }
  const guard = createGrantGuard({
    url: "https://usher.example.com/",
    organizationId: "brand",
    protects: ({ url }) => (new URL(url).pathname === "/" ? undefined : "drop"),
    now: () => at.now,
    ...settings,
    fetch: async (url) => {
      if (url.startsWith("https://usher.example.com/e/")) {
        at.asked += 1
        assert.strictEqual(
          url,
          `https://usher.example.com/e/drop/return?to=${encodeURIComponent(settings.origin ?? shop)}`
        )
        if (at.isAway) throw new TypeError("fetch failed")
        return at.isSilent ? new Promise(() => {}) : new Response(null, { status: at.isAllowed ? 204 : 403 })
      }
      at.reads += 1
      assert.strictEqual(url, "https://usher.example.com/.well-known/jwks.json")
      if (at.isAway) throw new TypeError("fetch failed")
      if (at.isSilent) return new Promise(() => {})
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

const formType = { "content-type": "application/x-www-form-urlencoded" }

/** A form whose body comes in these pieces, and ends only if it says so. */
const streamed = (pieces: ReadonlyArray<string>, isEnded = true) => {
  const pulled = { count: 0 }
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        const piece = pieces[pulled.count]
        if (piece === undefined) return isEnded ? controller.close() : new Promise(() => {})
        pulled.count += 1
        controller.enqueue(new TextEncoder().encode(piece))
      }
    },
    { highWaterMark: 0 }
  )
  const request = new Request(`${shop}/checkout?size=42`, {
    method: "POST",
    headers: formType,
    body,
    duplex: "half"
  } as RequestInit)
  return { request, pulled }
}

const assertRefused = (response: Response) => {
  assert.deepStrictEqual([response.status, response.headers.get("location")], [303, room])
  assert.strictEqual(response.headers.get("cache-control"), "no-store")
  assert.isNull(response.headers.get("set-cookie"))
}

const assertSold = async (response: Response) => assert.strictEqual(await response.text(), "sold")

describe("the guard", () => {
  it("says that the organization does not allow its shop, instead of sending visitors to and fro", async () => {
    const { at, visit } = guarded()
    at.isAllowed = false
    const refused = await visit()
    assert.strictEqual(refused.status, 500)
    assert.include(await refused.text(), `does not lead back to ${shop}`)
    await assertSold(await visit(token()))
    // It asks again, because the shop may have been allowed since.
    at.isAllowed = true
    assert.strictEqual((await visit()).status, 500)
    at.now += 11_000
    assertRefused(await visit())
    at.isAllowed = false
    at.now += 60_000
    assertRefused(await visit())
    assert.strictEqual(at.asked, 2)
  })

  it("sends visitors to the room while Usher is out of reach", async () => {
    const { at, visit } = guarded()
    at.isAway = true
    assertRefused(await visit())
  })

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
    const response = await guarded({ origin: "https://www.brand.example.com" }).visit()
    const back = new URL(response.headers.get("location")!).searchParams.get("return")
    assert.strictEqual(back, "https://www.brand.example.com/checkout?size=42")
  })

  it("refuses a value that is no grant for the path, as a cookie and as a form", async () => {
    const [header, payload, signature] = token().split(".") as [string, string, string]
    const bad = {
      expired: token({ exp: start / 1000 }),
      "of another organization": token({ organizationId: "other" }),
      "of a test key": token({ mode: "test" }),
      "without a mode": token({ mode: undefined }),
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

  it("takes the grants of test keys, and no live ones, where the shop says so", async () => {
    const { visit } = guarded({ mode: "test" })
    await assertSold(await visit(token({ mode: "test" })))
    for (const mode of ["live", "", undefined]) assertRefused(await visit(token({ mode })))
  })

  it("takes a posted grant however its body is cut", async () => {
    const form = `a=%C3%A4&usher_grant=${token()}`
    for (const size of [1, 2, 7, 100, form.length]) {
      const pieces = form.match(new RegExp(`.{1,${size}}`, "g"))!
      const response = await guarded().ask(streamed(pieces).request)
      assert.include(response.headers.get("set-cookie"), `__Host-usher-grant-drop=${token()};`)
    }
  })

  it("stops to read a posted form when it is longer than a grant", async () => {
    const kilobyte = "x".repeat(1_024)
    const grant = `usher_grant=${token()}&`
    for (const pieces of [
      Array<string>(1_000).fill(kilobyte),
      [grant, ...Array<string>(1_000).fill(kilobyte)],
      [grant, "x".repeat(1_000_000), "x"],
      Array<string>(50_000).fill("x")
    ]) {
      const { request, pulled } = streamed(pieces)
      assertRefused(await guarded().ask(request))
      assert.isBelow(pieces.slice(0, pulled.count - 1).join("").length, 16_385)
    }
  })

  it("waits ten seconds at most for the end of a posted form", async () => {
    const grant = `usher_grant=${token()}`
    vi.useFakeTimers()
    try {
      for (const pieces of [[], [grant], [...grant], ["a=b&", grant, "&c="]]) {
        const answer = guarded().ask(streamed(pieces, false).request)
        await vi.advanceTimersByTimeAsync(10_000)
        assertRefused(await answer)
      }
    } finally {
      vi.useRealTimers()
    }
  })

  it("refuses a form whose connection breaks", async () => {
    const body = new ReadableStream({ start: (controller) => controller.error(new Error("reset")) })
    const broken = new Request(`${shop}/checkout?size=42`, {
      method: "POST",
      headers: formType,
      body,
      duplex: "half"
    } as RequestInit)
    assertRefused(await guarded().ask(broken))
  })

  it("waits five seconds at most for the keys, and then uses the known ones", async () => {
    const { at, visit } = guarded()
    await assertSold(await visit(token()))
    at.now += 300_000
    at.isSilent = true
    vi.useFakeTimers()
    try {
      const answer = visit(token())
      await vi.advanceTimersByTimeAsync(5_000)
      await assertSold(await answer)
    } finally {
      vi.useRealTimers()
    }
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
