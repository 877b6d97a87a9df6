/** The counts of recent entries as histories of consumers at an address. */
import { assert, describe, it } from "@effect/vitest"
import {
  halfLifeMillis,
  noAddressEntries,
  noNetworkEntries,
  noteEntry,
  type Others
} from "../../../src/domain/risk/RecentEntries.ts"

/** A network with its addresses. */
const aNetwork = () => {
  const network = noNetworkEntries(0)
  const addresses = new Map<string, ReturnType<typeof noAddressEntries>>()
  return (name: string, consumerId: string, at = 0): Others => {
    const address = addresses.get(name) ?? noAddressEntries(network, at)
    addresses.set(name, address)
    return noteEntry(address, consumerId, at)
  }
}

describe("The recent entries of an address", () => {
  it("are those of other consumers", () => {
    const enter = aNetwork()
    assert.deepStrictEqual(enter("a", "ada"), { addressEntries: 0, networkEntries: 0 })
    assert.deepStrictEqual(enter("a", "bob"), { addressEntries: 1, networkEntries: 0 })
    assert.deepStrictEqual(enter("a", "eve"), { addressEntries: 2, networkEntries: 0 })
  })

  it("do not grow while the members of a household repeat their entries", () => {
    const enter = aNetwork()
    const household = ["ada", "bob", "eve", "joe"]
    for (let round = 0; round < 100; round++) for (const consumerId of household) enter("a", consumerId)
    assert.deepStrictEqual(enter("a", "ada"), { addressEntries: 3, networkEntries: 0 })
    assert.deepStrictEqual(enter("a", "kim"), { addressEntries: 4, networkEntries: 0 })
  })

  it("grow with every consumer of a crowd", () => {
    const enter = aNetwork()
    for (let consumer = 0; consumer < 100; consumer++) enter("a", `c${consumer}`)
    assert.strictEqual(enter("a", "ada").addressEntries, 100)
  })

  it("count for its network at other addresses", () => {
    const enter = aNetwork()
    for (let consumer = 0; consumer < 10; consumer++) enter(`a${consumer}`, `c${consumer}`)
    assert.deepStrictEqual(enter("b", "ada"), { addressEntries: 0, networkEntries: 10 })
    assert.deepStrictEqual(enter("b", "bob"), { addressEntries: 1, networkEntries: 10 })
  })

  it("decay by half in ten minutes", () => {
    const enter = aNetwork()
    for (let consumer = 0; consumer < 8; consumer++) enter("a", `c${consumer}`)
    for (let consumer = 8; consumer < 16; consumer++) enter("b", `c${consumer}`)
    const { addressEntries, networkEntries } = enter("a", "ada", 2 * halfLifeMillis)
    assert.approximately(addressEntries, 2, 1e-9)
    assert.approximately(networkEntries, 2, 1e-9)
  })

  it("never become fewer than none, also if a clock goes back", () => {
    const enter = aNetwork()
    enter("a", "ada", 1_000_000)
    assert.deepStrictEqual(enter("a", "bob", 0), { addressEntries: 1, networkEntries: 0 })
    assert.deepStrictEqual(enter("a", "ada", 1e12), { addressEntries: 0, networkEntries: 0 })
  })
})
