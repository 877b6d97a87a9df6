import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import { quantityBounds } from "../../../src/domain/catalogue/Variant.ts"
import {
  counted,
  needsOf,
  type OutOfStock,
  type Stock,
  type Units,
  unitsOf
} from "../../../src/domain/catalogue/Stock.ts"

const units = (of: { readonly [variantId: string]: number }): Units => new Map(Object.entries(of))
const none = units({})

const stock = (policy: Stock["policy"], quantity: number): ReadonlyMap<string, Stock> =>
  new Map([["shoe", { policy, quantity }]])

/** The result of a change of an order's items: the units it has taken and the quantity, or the units left. */
const after = (taken: Units, before: Units, now: Units, stocks: ReadonlyMap<string, Stock>) =>
  Result.match(counted(taken, needsOf(taken, before, now), stocks), {
    onSuccess: ({ taken, quantities }) => [Object.fromEntries(taken), Object.fromEntries(quantities)],
    onFailure: ({ productVariantId, requested, available }: OutOfStock) => [productVariantId, requested, available]
  })

const shoes = (count: number) => units({ shoe: count })

describe("The units of an order", () => {
  const item = (productVariantId: string | null | undefined, quantity: number) => ({
    ...(productVariantId !== undefined && { productVariantId }),
    quantity,
    unitPrice: "1"
  })

  it("are those of its items by variant, and none once it is cancelled", () => {
    const items = [item("shoe", 2), item("hat", 1), item("shoe", 3), item(null, 7), item(undefined, 8)]
    assert.deepStrictEqual(unitsOf({ status: "CREATED", items }), units({ shoe: 5, hat: 1 }))
    assert.deepStrictEqual(unitsOf({ status: "CANCELLED", items }), none)
  })
})

describe("The stock of a variant", () => {
  it("is counted down as long as there is some, by policy deny", () => {
    assert.deepStrictEqual(after(none, none, shoes(3), stock("deny", 3)), [{ shoe: 3 }, { shoe: 0 }])
    assert.deepStrictEqual(after(none, none, shoes(4), stock("deny", 3)), ["shoe", 4, 3])
    assert.deepStrictEqual(after(none, none, shoes(1), stock("deny", -5)), ["shoe", 1, 0])
  })

  it("is counted below zero by policy continue, as far as there are numbers for it", () => {
    assert.deepStrictEqual(after(none, none, shoes(4), stock("continue", 3)), [{ shoe: 4 }, { shoe: -1 }])
    const { minimum } = quantityBounds
    assert.deepStrictEqual(after(none, none, shoes(2), stock("continue", minimum + 2)), [
      { shoe: 2 },
      { shoe: minimum }
    ])
    assert.deepStrictEqual(after(none, none, shoes(3), stock("continue", minimum + 2)), ["shoe", 3, 2])
  })

  it("is not counted by policy untracked, nor where there is no such variant", () => {
    assert.deepStrictEqual(after(none, none, shoes(4), stock("untracked", 3)), [{}, {}])
    assert.deepStrictEqual(after(none, none, shoes(4), new Map()), [{}, {}])
  })

  it("changes by the difference where an order sells more or fewer", () => {
    assert.deepStrictEqual(after(shoes(3), shoes(3), shoes(5), stock("deny", 2)), [{ shoe: 5 }, { shoe: 0 }])
    assert.deepStrictEqual(after(shoes(3), shoes(3), shoes(6), stock("deny", 2)), ["shoe", 3, 2])
    assert.deepStrictEqual(after(shoes(3), shoes(3), shoes(1), stock("deny", 2)), [{ shoe: 1 }, { shoe: 4 }])
    assert.deepStrictEqual(after(shoes(3), shoes(3), none, stock("deny", 2)), [{}, { shoe: 5 }])
    assert.deepStrictEqual(needsOf(shoes(3), shoes(3), shoes(3)), [])
  })

  it("regains exactly the taken units, under any later policy", () => {
    assert.deepStrictEqual(after(none, shoes(3), none, stock("deny", 2)), [{}, {}])
    assert.deepStrictEqual(after(shoes(3), shoes(3), none, stock("untracked", 2)), [{}, { shoe: 5 }])
    assert.deepStrictEqual(after(none, shoes(3), shoes(5), stock("deny", 9)), [{ shoe: 2 }, { shoe: 7 }])
    assert.deepStrictEqual(after(shoes(2), shoes(5), shoes(4), stock("deny", 7)), [{ shoe: 2 }, {}])
    assert.deepStrictEqual(after(shoes(2), shoes(5), shoes(1), stock("deny", 7)), [{ shoe: 1 }, { shoe: 8 }])
    const { maximum } = quantityBounds
    assert.deepStrictEqual(after(shoes(3), shoes(3), none, stock("deny", maximum - 1)), [{}, { shoe: maximum }])
  })

  it("is that of all variants of an order or of none", () => {
    const stocks = new Map<string, Stock>([
      ["hat", { policy: "deny", quantity: 1 }],
      ["shoe", { policy: "deny", quantity: 5 }]
    ])
    assert.deepStrictEqual(after(none, none, units({ shoe: 2, hat: 2 }), stocks), ["hat", 2, 1])
    assert.deepStrictEqual(after(units({ hat: 1 }), units({ hat: 1 }), shoes(5), stocks), [
      { shoe: 5 },
      { shoe: 0, hat: 2 }
    ])
  })

  const Step = Schema.Tuple([
    Schema.Literals([0, 1, 2]),
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))
  ])

  it.prop(
    "and what orders have taken of it are together always as much as there was, and it is never below zero",
    { steps: Arbitrary.schema(Schema.Array(Step)) },
    ({ steps }) => {
      const orders = [none, none, none]
      let quantity = 10
      for (const [index, wanted] of steps) {
        const before = orders[index]!
        const outcome = counted(before, needsOf(before, before, shoes(wanted)), stock("deny", quantity))
        if (Result.isSuccess(outcome)) {
          orders[index] = outcome.success.taken
          quantity = outcome.success.quantities.get("shoe") ?? quantity
          assert.strictEqual(orders[index].get("shoe") ?? 0, wanted)
        } else {
          assert.isAbove(wanted, (before.get("shoe") ?? 0) + quantity)
        }
        assert.isAtLeast(quantity, 0)
        assert.strictEqual(quantity + orders.reduce((sum, taken) => sum + (taken.get("shoe") ?? 0), 0), 10)
      }
    },
    { arbitrary: { runs: 500 } }
  )
})
