/** The experience page: a creative document of an experience, found by its slug. */
import { Schema } from "effect"
import { ReceivedDocument, SentDocument, SentRichContent } from "./creative/Document.ts"
import { Id } from "../values/Ids.ts"
import { recordSchema } from "../values/Record.ts"
import { JsonObject, key, text } from "../values/Text.ts"
import { SentTimestamp, Timestamp } from "../values/Time.ts"

/** Whether consumers can see the page. */
export const PageStatus = Schema.Literals(["DRAFT", "PUBLISHED"])
export type PageStatus = typeof PageStatus.Type

/** Identifies a page within its experience, for its address. */
export const Slug = key({ minLength: 1, maxLength: 200 })

/** The fields an admin sets. */
export const Settings = Schema.Struct({
  slug: Slug,
  title: text({ minLength: 1, maxLength: 500 }),
  creativeDocument: ReceivedDocument,
  creativeDesignId: Schema.optionalKey(Id),
  creativeTemplateKey: Schema.optionalKey(text({ maxLength: 200 })),
  metadata: Schema.optionalKey(JsonObject)
})
export type Settings = typeof Settings.Type

/** The page as consumers see it. */
export const PublicExperiencePage = Schema.Struct({
  id: Id,
  experienceId: Id,
  slug: Schema.String,
  title: Schema.String,
  creativeDocument: SentRichContent,
  publishedAt: SentTimestamp,
  lastPublishedAt: SentTimestamp,
  updatedAt: SentTimestamp
}).annotate({ identifier: "PublicExperiencePage" })
export type PublicExperiencePage = typeof PublicExperiencePage.Type

/** The page in responses. Unset fields are null. */
export const ExperiencePage = recordSchema("ExperiencePage", {
  experienceId: Id,
  slug: Schema.String,
  title: Schema.String,
  creativeDocument: SentDocument,
  status: PageStatus,
  creativeDesignId: Schema.NullOr(Id),
  creativeTemplateKey: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(JsonObject),
  publishedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was published first." }),
  lastPublishedAt: Schema.NullOr(Timestamp).annotate({ description: "When it was published last." })
})
export type ExperiencePage = typeof ExperiencePage.Type

/** How the list of pages of an experience can be sorted. The first is the default. */
export const experiencePageSorts = ["createdAt", "title", "updatedAt"] as const

/**
 * The bytes of creative documents that one page of the list reads. The page ends with the document that reaches the
 * limit, and its cursor continues from there. A page has at least one item, so a walk never ends early.
 */
export const listedDocumentBytesMax = 4_194_304
