// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { queueIdsOf, type Rule, Settings, settingsProblems } from "../../../src/domain/gate/Gate.ts"

const [one, two] = ["0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5b"]

const settings: Settings = {
  name: "Shop",
  hosts: ["shop.example"],
  rules: [],
  failMode: "closed",
  cookie: {},
  returnPath: "/.usher/return"
}

const decode = Schema.decodeUnknownResult(Settings)
const isTaken = (changed: object): boolean => Result.isSuccess(decode({ ...settings, ...changed }))

describe("a gate", () => {
  it("has hosts in lower case, without ports", () => {
    const hosts = ["Shop.Example", "localhost", "127.0.0.1", "xn--bcher-kva.example"]
    assert.deepStrictEqual(
      Result.getOrThrow(decode({ ...settings, hosts })).hosts,
      hosts.map((host) => host.toLowerCase())
    )
    for (const host of ["", "a.", ".a", "-a.b", "a-.b", "a b", "a:1", "a/b", "a_b", `${"a".repeat(64)}.b`]) {
      assert.isFalse(isTaken({ hosts: [host] }), host)
    }
  })

  it("has no rule that lets everything pass, so that a misspelt condition is found", () => {
    assert.isFalse(isTaken({ rules: [{ when: {}, then: "pass" }] }))
    assert.isFalse(isTaken({ rules: [{ when: { pathprefix: "/a" }, then: "pass" }] }))
    assert.isTrue(isTaken({ rules: [{ when: { pathPrefix: "/a" }, then: "pass" }] }))
    assert.isTrue(isTaken({ rules: [{ when: {}, then: { queueId: one } }] }))
  })

  it("has rules with paths, methods, headers and cookies that a request can have", () => {
    const rule = (when: object) => isTaken({ rules: [{ when, then: { queueId: one } }] })
    assert.isTrue(
      rule({ path: "/a%20b", methods: ["GET", "POST"], header: { name: "X-A", value: "b c" }, cookie: "a" })
    )
    for (const when of [
      { path: "a" },
      { path: "/a b" },
      { pathPrefix: "" },
      { methods: [] },
      { methods: ["Get"] },
      { header: { name: "a:" } },
      { header: {} },
      { cookie: "a=b" },
      { crawler: "" }
    ]) {
      assert.isFalse(rule(when), JSON.stringify(when))
    }
  })

  it("has a cookie whose domain contains every host", () => {
    const problems = (domain: string, ...hosts: ReadonlyArray<string>) =>
      settingsProblems({ ...settings, hosts, cookie: { domain } }).map(({ field }) => field)
    assert.deepStrictEqual(problems("shop.example", "shop.example", "www.shop.example"), [])
    assert.deepStrictEqual(problems("shop.example", "www.shop.example", "other.example"), ["cookie"])
    assert.deepStrictEqual(problems("shop.example", "myshop.example"), ["cookie"])
    assert.deepStrictEqual(settingsProblems(settings), [])
  })

  it("opens the queues that its rules name, each once", () => {
    const to = (queueId: string): Rule => ({ when: {}, then: { queueId } })
    const pass: Rule = { when: { path: "/" }, then: "pass" }
    assert.deepStrictEqual(queueIdsOf([to(one), pass, to(two), to(one)]), [one, two])
  })
})
