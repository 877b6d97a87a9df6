/**
 * `GET /fonts/{id}`: an uploaded font, for everybody who knows its address. The headers allow it to be used as a font, and
 * nothing else. Fonts that are asked for stay in memory while there is room, so a crowd does not reach the database.
 */
import { Effect, Layer } from "effect"
import { fontRoute, fontType } from "../../domain/catalogue/Font.ts"
import { Fonts } from "../../store/catalogue/Fonts.ts"
import { servedFiles } from "./ServedFiles.ts"

/** Requests of one address for fonts in a minute. */
export const fontRequestsMax = 1_200

/** Bytes of all kept fonts of a listener. */
const keptBytesMax = 16_777_216

/** The route, on either listener: the dashboard shows rooms from its own origin. */
export const layer = servedFiles({
  route: fontRoute,
  name: "fonts",
  noun: "Font",
  contentType: fontType,
  // Browsers load fonts with CORS, and the frame of a preview has an origin of its own.
  headers: { "access-control-allow-origin": "*" },
  requestsMax: fontRequestsMax,
  keptBytesMax,
  read: Effect.map(Fonts, ({ bytes }) => bytes)
}).pipe(Layer.provide(Fonts.layer))
