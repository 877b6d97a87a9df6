import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  AudienceRules,
  problemsOf,
  type Rule,
  ruleValuesMax,
  rulesMax
} from "../../../src/domain/consumer/AudienceRules.ts"

const is = Schema.is(AudienceRules)

const problems = (...rules: ReadonlyArray<Rule>) =>
  problemsOf({ match: "all", rules }).map(({ path, type }) => `${path.join(".")}: ${type}`)

const rule = (field: string, op: Rule["op"], value: Rule["value"]): Rule => ({ field, op, value })

describe("The rules of an audience", () => {
  it("compare each field only with values of its type", () => {
    const good = [
      rule("type", "eq", "guest"),
      rule("email", "endsWith", "@example.com"),
      rule("phone", "exists", false),
      rule("fullName", "contains", "Ann"),
      rule("externalId", "in", ["a", "b"]),
      rule("createdAt", "gte", "2026-01-01T00:00:00Z"),
      rule("lastOrderAt", "exists", true),
      rule("loyaltyBalance", "gt", "99.5"),
      rule("totalOrderValue", "in", ["1", "2.50"]),
      rule("orderCount", "lte", 3),
      rule("attributes.tier", "eq", "gold"),
      rule("attributes.a.b", "gt", 1.5),
      rule("attributes.vip", "ne", true),
      rule("attributes.tier", "startsWith", "g")
    ]
    assert.deepStrictEqual(problems(...good), [])
  })

  it("are refused where a field has no such comparison, or the value is of another type, each by its path", () => {
    assert.deepStrictEqual(
      problems(
        rule("colour", "eq", "red"),
        rule("toString", "eq", "red"),
        rule("attributes.", "eq", "red"),
        rule("type", "contains", "guest"),
        rule("type", "eq", "vip"),
        rule("email", "gt", "a"),
        rule("email", "eq", 1),
        rule("email", "eq", ""),
        rule("phone", "exists", "yes"),
        rule("orderCount", "exists", true),
        rule("orderCount", "eq", "3"),
        rule("orderCount", "eq", 1.5),
        rule("orderCount", "eq", -1),
        rule("loyaltyBalance", "gt", 5),
        rule("totalOrderValue", "gt", "1e3"),
        rule("createdAt", "gt", "2026-02-30T00:00:00Z"),
        rule("lastOrderAt", "lt", "yesterday"),
        rule("externalId", "in", "a"),
        rule("externalId", "in", ["a", 1]),
        rule("externalId", "eq", ["a"]),
        rule("attributes.tier", "gt", "gold"),
        rule("attributes.tier", "contains", 1),
        rule("attributes.tier", "eq", ["gold"])
      ),
      [
        "rules.0.field: picklist",
        "rules.1.field: picklist",
        "rules.2.field: picklist",
        "rules.3.op: picklist",
        "rules.4.value: picklist",
        "rules.5.op: picklist",
        "rules.6.value: string",
        "rules.7.value: string",
        "rules.8.value: boolean",
        "rules.9.op: picklist",
        "rules.10.value: integer",
        "rules.11.value: integer",
        "rules.12.value: integer",
        "rules.13.value: amount",
        "rules.14.value: amount",
        "rules.15.value: date_time",
        "rules.16.value: date_time",
        "rules.17.value: array",
        "rules.18.value.1: string",
        "rules.19.value: string",
        "rules.20.value: number",
        "rules.21.value: string",
        "rules.22.value: string"
      ]
    )
  })

  it("are bounded", () => {
    const one = rule("externalId", "eq", "a")
    const times = (count: number) => Array.from({ length: count }, () => one)
    assert.isTrue(is({ match: "any", rules: times(rulesMax) }))
    const wrong = [
      { match: "all", rules: [] },
      { match: "all", rules: times(rulesMax + 1) },
      { match: "none", rules: [one] },
      { rules: [one] },
      { match: "all", rules: [{ field: "email", op: "like", value: "%" }] },
      { match: "all", rules: [{ field: "email", op: "eq" }] },
      { match: "all", rules: [{ ...one, value: null }] },
      { match: "all", rules: [{ ...one, op: "in", value: [] }] },
      { match: "all", rules: [{ ...one, op: "in", value: Array.from({ length: ruleValuesMax + 1 }, () => "a") }] },
      { match: "all", rules: [{ ...one, field: "x".repeat(201) }] }
    ]
    for (const rules of wrong) assert.isFalse(is(rules), JSON.stringify(rules).slice(0, 80))
  })
})
