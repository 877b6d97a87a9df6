/** An uploaded picture. Usher serves it itself, at an address on the Consumer API's listener. */
import { Schema } from "effect"
import { Id, isUuid } from "../values/Ids.ts"
import { isHttpsUrl, text } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"

/** Bytes of an uploaded file, and of the picture that is made of it. */
export const pictureBytesMax = 5_000_000

/** Pixels of an uploaded file. */
export const picturePixelsMax = 40_000_000

/** The same of AVIF: its decoder holds the whole picture, several times. */
export const avifPixelsMax = 16_000_000

/** Pictures of an organization in live or in test mode, and their bytes together. */
export const picturesMax = 1_000
export const picturesBytesMax = 500_000_000

/** The types of files that can be uploaded. */
export const uploadTypes = ["image/png", "image/jpeg", "image/webp", "image/avif"] as const

/** The one type that is stored and served. */
export const pictureType = "image/webp"

/** The route at which pictures are served. */
export const pictureRoute = "/pictures/:id"

const picturesPath = "/pictures/"

/** Returns the address of a picture, without the host. */
export const picturePath = (id: string): string => `${picturesPath}${id}`

/** True for the address of an uploaded picture, without a host. */
export function isPicturePath(address: string): boolean {
  return address.startsWith(picturesPath) && isUuid(address.slice(picturesPath.length))
}

/** The address of a picture that a page may show: of an uploaded one, or `https` without user and password. */
export const PictureUrl = text({ maxLength: 2_000 })
  .check(
    Schema.makeFilter(isShownPicture, {
      expected: "an absolute https URL, or the address of an uploaded picture",
      representation: { id: "usher/string", payload: null },
      toJsonSchema: () => ({ pattern: `^(?:https://|${picturesPath})` })
    })
  )
  .annotate({
    description: "An absolute `https` URL, or the `url` of an uploaded picture.",
    examples: ["https://cdn.example/aurora.jpg"]
  })

/** True for the address of a picture that a page may show. */
export function isShownPicture(address: string): boolean {
  return isPicturePath(address) || isHttpsUrl(address)
}

/** The picture in responses. */
export const Picture = Schema.Struct({
  id: Id,
  url: Schema.String.annotate({
    description:
      "The address on the Consumer API's host, without the host: products, looks and pages take it as it is. Others " +
      "put the host before it.",
    examples: [picturePath("0190a6e0-5c7e-7a10-8d7e-6f2f3b1c4d5e")]
  }),
  width: Schema.Int.annotate({ description: "Pixels." }),
  height: Schema.Int.annotate({ description: "Pixels." }),
  contentType: Schema.Literal(pictureType),
  bytes: Schema.Int,
  createdAt: Timestamp,
  createdBy: Schema.String
}).annotate({ identifier: "Picture" })
export type Picture = typeof Picture.Type

/** How the list of pictures can be sorted. The first is the default. */
export const pictureSorts = ["createdAt"] as const
