/** Reads the sample data of `usher seed` through the Admin API. */
import { assert, describe, it } from "vitest"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

const lists = [
  "/consumers",
  "/orders",
  "/products",
  "/variants",
  "/experiences",
  "/sequences",
  "/experience-pages",
  "/audiences",
  "/distributions"
]

interface Record {
  readonly id: string
  readonly totalOrderValue?: string
  readonly totalOrderValues?: object
}

describe("sample data", () => {
  it("appears in every list and as single records", async () => {
    await using server = await ServerUnderTest.make()
    await server.start()
    const { organizationId, testSecretKey } = await server.createOrganization()
    assert.match(
      await server.usher(["seed", "--organization", organizationId, "--large", "300"]),
      /^Filled "Test" \(test\) with/
    )
    const get = async (path: string) => {
      const answer = await fetch(`${server.adminUrl}/api${path}`, {
        headers: { authorization: `Bearer ${testSecretKey}` }
      })
      const body = (await answer.json()) as { readonly data: ReadonlyArray<Record> }
      assert.strictEqual(answer.status, 200, `GET ${path}: ${JSON.stringify(body)} ${server.log}`)
      return body
    }
    for (const path of lists) {
      const { data } = await get(`${path}?first=100`)
      if (path === "/audiences" || path === "/distributions") continue
      assert.isNotEmpty(data, path)
      for (const { id } of data.slice(0, 3)) await get(`${path}/${id}`)
    }
    const { data } = await get("/consumers?sortBy=totalOrderValue&sortDir=desc&first=1")
    const { totalOrderValue, totalOrderValues } = data[0]!
    assert.deepStrictEqual(totalOrderValues, { USD: totalOrderValue })
    assert.notStrictEqual(totalOrderValue, "0")
  })
})
