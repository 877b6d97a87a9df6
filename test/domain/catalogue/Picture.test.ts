import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { isPicturePath, picturePath, pictureRoute, PictureUrl } from "../../../src/domain/catalogue/Picture.ts"

const id = "0190a6e0-5c7e-7a10-8d7e-6f2f3b1c4d5e"
const isUrl = (text: string) => Result.isSuccess(Schema.decodeUnknownResult(PictureUrl)(text))

describe("The address of a picture", () => {
  it("is that of an uploaded one, without a host, or an https address", () => {
    assert.strictEqual(picturePath(id), pictureRoute.replace(":id", id))
    for (const address of [picturePath(id), picturePath(id.toUpperCase()), "https://cdn.example/a.jpg"])
      assert.isTrue(isUrl(address), address)
  })

  it("leads nowhere else on the host, and to no other host", () => {
    const others = [
      "",
      "/pictures/",
      "/pictures/1",
      `/pictures/${id}/../../dashboard`,
      `/pictures/${id}?x=1`,
      `/pictures/${id}#x`,
      `/pictures/${id}\n`,
      `/pictures//${id}`,
      `//evil.example/pictures/${id}`,
      `/\\evil.example/pictures/${id}`,
      `http://shop.example/pictures/${id}`,
      `pictures/${id}`,
      `javascript:alert(1)//pictures/${id}`
    ]
    for (const address of others) assert.isFalse(isUrl(address) || isPicturePath(address), address)
  })
})
