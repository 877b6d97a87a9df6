/** Which visitors are crawlers, by a name server of the test. */
import { assert, describe, it } from "@effect/vitest"
import { findingsMax, lookupsMax, makeCrawlers, type Names } from "../../src/client/crawlers.ts"

const google = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"

/** A name server, and what it was asked. */
const aNameServer = (
  reverse: { readonly [address: string]: ReadonlyArray<string> },
  forward: { readonly [name: string]: ReadonlyArray<string> }
) => {
  const asked: Array<string> = []
  const found = (records: typeof forward, key: string) => {
    asked.push(key)
    const answer = records[key]
    return answer === undefined ? Promise.reject(new Error("ENOTFOUND")) : Promise.resolve(answer)
  }
  const names: Names = {
    reverse: (address) => found(reverse, address),
    resolve4: (name) => found(forward, name),
    resolve6: (name) => found(forward, name)
  }
  return { names, asked }
}

const honest = aNameServer(
  {
    "66.249.66.1": ["crawl-66-249-66-1.googlebot.com"],
    "2001:4860:4801:10::1": ["crawl-v6.googlebot.com."],
    "157.55.39.1": ["MSNBOT-157-55-39-1.search.msn.com"],
    "17.58.101.179": ["17-58-101-179.applebot.apple.com"],
    "40.89.243.1": ["one.duckduckgo.com"]
  },
  {
    "crawl-66-249-66-1.googlebot.com": ["66.249.66.2", "66.249.66.1"],
    "crawl-v6.googlebot.com": ["2001:4860:4801:0010:0:0:0:1"],
    "msnbot-157-55-39-1.search.msn.com": ["157.55.39.1"],
    "17-58-101-179.applebot.apple.com": ["17.58.101.179"],
    "one.duckduckgo.com": ["40.89.243.1"]
  }
)

describe("a crawler", () => {
  it("is one if its address has a name of its operator, and the name leads back to the address", async () => {
    const crawlers = makeCrawlers(honest.names)
    assert.strictEqual(await crawlers(google, "66.249.66.1"), "googlebot")
    assert.strictEqual(await crawlers(google, "2001:4860:4801:10::1"), "googlebot")
    assert.strictEqual(await crawlers("Mozilla/5.0 (compatible; bingbot/2.0)", "157.55.39.1"), "bingbot")
    assert.strictEqual(await crawlers("Mozilla/5.0 (Applebot/0.1)", "17.58.101.179"), "applebot")
    assert.strictEqual(await crawlers("DuckDuckBot/1.1", "40.89.243.1"), "duckduckbot")
  })

  it("is none by its user agent alone, nor with the address of another crawler", async () => {
    const crawlers = makeCrawlers(honest.names)
    assert.isUndefined(await crawlers(google, "203.0.113.7"))
    assert.isUndefined(await crawlers(google, "157.55.39.1"))
    for (const address of [undefined, "", "localhost", "66.249.66.1.", "66.249.66.1, 203.0.113.7"]) {
      assert.isUndefined(await crawlers(google, address), address)
    }
  })

  it("is none if only the owner of the address says so, or only a name that looks like the operator's", async () => {
    const address = "203.0.113.7"
    const names = [
      "crawl-66-249-66-1.googlebot.com",
      "googlebot.com",
      "evilgooglebot.com",
      "crawl.googlebot.com.evil.example",
      "1.bc.googleusercontent.com"
    ]
    for (const name of names) {
      const forward = { [name]: [name === names[0] ? "66.249.66.1" : address] }
      const { names: server } = aNameServer({ [address]: [name] }, forward)
      assert.isUndefined(await makeCrawlers(server)(google, address), name)
    }
  })

  it("costs other visitors nothing, and one question for each address", async () => {
    const { names, asked } = aNameServer({}, {})
    let now = 0
    const crawlers = makeCrawlers(names, () => now)
    await crawlers("Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0", "203.0.113.7")
    await crawlers(undefined, "203.0.113.7")
    assert.lengthOf(asked, 0)
    await crawlers(google, "203.0.113.7")
    await crawlers(google, "203.0.113.7")
    assert.deepStrictEqual(asked, ["203.0.113.7"])
    now += 300_000
    await crawlers(google, "203.0.113.7")
    assert.lengthOf(asked, 2)
  })

  it("does not keep a name server busy: a flood of addresses counts as unverified", async () => {
    let open = 0
    let most = 0
    let answer = () => {}
    const answered = new Promise<void>((resolve) => (answer = resolve))
    const reverse = async () => {
      most = Math.max(most, ++open)
      await answered
      open--
      return []
    }
    const crawlers = makeCrawlers({ reverse, resolve4: async () => [], resolve6: async () => [] })
    const flood = Array.from({ length: 5_000 }, (_, visitor) =>
      crawlers(google, `10.0.${visitor >> 8}.${visitor & 255}`)
    )
    answer()
    assert.deepStrictEqual(new Set(await Promise.all(flood)), new Set([undefined]))
    assert.strictEqual(most, lookupsMax)
  })

  it("is remembered with a bounded number of others, the last ones among them", async () => {
    const { names, asked } = aNameServer({}, {})
    const crawlers = makeCrawlers(names, () => 0)
    const addressOf = (number: number) => `10.${number >> 16}.${(number >> 8) & 255}.${number & 255}`
    for (let number = 0; number <= findingsMax; number++) await crawlers(google, addressOf(number))
    const before = asked.length
    await crawlers(google, addressOf(findingsMax))
    assert.lengthOf(asked, before)
    await crawlers(google, addressOf(0))
    assert.lengthOf(asked, before + 1)
  })
})
