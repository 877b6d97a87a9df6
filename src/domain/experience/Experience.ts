/** The experience: a release of products to consumers, through its sequences. */
import { Schema } from "effect"
import { ExperienceChallenge } from "../challenge/Challenge.ts"
import { FontUrl } from "../catalogue/Font.ts"
import { isPicturePath } from "../catalogue/Picture.ts"
import { recordSchema } from "../values/Record.ts"
import { CurrencyCode, TimeZone } from "../values/Locale.ts"
import { JsonObject, Name, isUri, text } from "../values/Text.ts"
import { type Millis, Timestamp } from "../values/Time.ts"

const ThemeText = text({ maxLength: 500 })

/** An uploaded picture, or any absolute URI: former records have addresses that no page shows. */
const PictureUri = text({ maxLength: 2_000 }).check(
  Schema.makeFilter((address: string) => isPicturePath(address) || isUri(address), {
    expected: "an absolute URI, or the address of an uploaded picture",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({ format: "uri-reference" })
  })
)

const Picture = Schema.optionalKey(PictureUri).annotateKey({
  description:
    "The address of a picture. Rooms show only uploaded pictures, and `https` addresses without user and password."
})

/** The look of an experience. */
export const Theme = Schema.Struct({
  background: Schema.optionalKey(ThemeText),
  danger: Schema.optionalKey(ThemeText),
  fontFamily: Schema.optionalKey(ThemeText),
  fontHeading: Schema.optionalKey(ThemeText),
  muted: Schema.optionalKey(ThemeText),
  primary: Schema.optionalKey(ThemeText),
  secondary: Schema.optionalKey(ThemeText),
  success: Schema.optionalKey(ThemeText),
  surface: Schema.optionalKey(ThemeText),
  text: Schema.optionalKey(ThemeText),
  warning: Schema.optionalKey(ThemeText),
  fontUrl: Schema.optionalKey(FontUrl).annotateKey({
    description: "The `url` of an uploaded font, in which rooms write. `fontFamily` stands for it until it is there."
  }),
  headingFontUrl: Schema.optionalKey(FontUrl).annotateKey({
    description: "The same for titles, with `fontHeading`."
  }),
  headerImageUrl: Picture,
  logoUrl: Picture,
  shareTitle: Schema.optionalKey(ThemeText).annotateKey({
    description: "The title where a link to the room is shared. Without one: the title of the room."
  }),
  shareDescription: Schema.optionalKey(ThemeText).annotateKey({
    description: "The description there. Without one: how the room works."
  }),
  shareImageUrl: Picture,
  showsUnitsLeft: Schema.optionalKey(Schema.Boolean).annotateKey({
    description: "True: the rooms of queues and timed releases show how many units are left."
  }),
  address: Schema.optionalKey(Schema.Literals(["formal", "informal"])).annotateKey({
    description:
      "How rooms address a visitor where a language has both (`de`, `es`, `fr`, `nl`). Without it: informal, in French " +
      "formal. Texts of `i18n` are taken as they are."
  }),
  variant: Schema.optionalKey(Schema.Literals(["default", "retro", "rounded", "clean"]))
}).annotate({ identifier: "Theme" })

/**
 * The fields an admin sets. Absent `openAt` or `closeAt` are shown from the experience's mechanisms; set ones bound the
 * mechanisms.
 */
export const Settings = Schema.Struct({
  name: Name,
  openAt: Schema.optionalKey(Timestamp),
  closeAt: Schema.optionalKey(Timestamp),
  timeZone: TimeZone,
  currencyCode: CurrencyCode,
  theme: Schema.optionalKey(Theme),
  i18n: Schema.optionalKey(JsonObject),
  /** The gate for bots; absent: the organization's. */
  challenge: Schema.optionalKey(ExperienceChallenge)
})
export type Settings = typeof Settings.Type

/** The experience in responses. Unset fields are null. */
export const Experience = recordSchema("Experience", {
  name: Schema.String,
  openAt: Schema.NullOr(Timestamp),
  closeAt: Schema.NullOr(Timestamp),
  window: Schema.Struct({ openAt: Schema.NullOr(Timestamp), closeAt: Schema.NullOr(Timestamp) }).annotate({
    description:
      "The opening and the closing that bound every mechanism. Where one is null, none is set: `openAt` or `closeAt` " +
      "shows that of the mechanisms which have one, and others may be open before and after it."
  }),
  timeZone: Schema.String,
  currencyCode: Schema.String,
  theme: Schema.NullOr(Theme),
  i18n: Schema.NullOr(JsonObject),
  challenge: Schema.NullOr(ExperienceChallenge),
  hasAccessCode: Schema.Boolean
})
export type Experience = typeof Experience.Type

/** True if the window is empty: it would close before or when it opens. */
export const isWindowEmpty = (window: {
  readonly openAt?: Millis | null | undefined
  readonly closeAt?: Millis | null | undefined
}): boolean =>
  typeof window.openAt === "number" && typeof window.closeAt === "number" && window.closeAt <= window.openAt

/** How the list of experiences can be sorted. The first is the default. */
export const experienceSorts = ["createdAt", "name", "openAt"] as const
