/**
 * `GET /pictures/{id}`: an uploaded picture, for everybody who knows its address. Its bytes were encoded by this program.
 */
import { Effect, Layer } from "effect"
import { pictureRoute, pictureType } from "../../domain/catalogue/Picture.ts"
import { Pictures } from "../../store/catalogue/Pictures.ts"
import { servedFiles } from "./ServedFiles.ts"

/** Requests of one address for pictures in a minute. */
export const pictureRequestsMax = 1_200

/** Bytes of all kept pictures of a listener. */
const keptBytesMax = 67_108_864

/** The route, on either listener: the dashboard shows pictures from its own origin. */
export const layer = servedFiles({
  route: pictureRoute,
  name: "pictures",
  noun: "Picture",
  contentType: pictureType,
  requestsMax: pictureRequestsMax,
  keptBytesMax,
  read: Effect.map(Pictures, ({ bytes }) => bytes)
}).pipe(Layer.provide(Pictures.layer))
