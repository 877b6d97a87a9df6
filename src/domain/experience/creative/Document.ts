/**
 * The creative document of an experience page: the contents of a page or a message. It has three forms, which differ by
 * the editor that made them.
 */
import { Schema } from "effect"
import { Theme } from "../Experience.ts"
import { AnyJson, storableJson, text } from "../../values/Text.ts"
import { EmailNodes } from "./EmailNode.ts"

/** Limit for the nesting of a free-form body. Editors nest lists deeply. */
export const bodyDepthMax = 128

/** As long as a whole body may be, so it adds no limit of its own. */
const Template = text({ minLength: 1, maxLength: 1_048_576 })

const shared = {
  /** Not a literal, so that the editor alone identifies the variant. */
  schemaVersion: Schema.Literals([1]),
  themeOverrides: Schema.optionalKey(Theme)
}

/** An email, as a list of nodes. */
export const EmailDocument = Schema.Struct({
  ...shared,
  editor: Schema.Literal("email-components-v1"),
  kind: Schema.Literals(["announcement-email", "transactional-email"]),
  body: Schema.Struct({ subjectTemplate: Template, nodes: EmailNodes })
}).annotate({ identifier: "EmailDocument" })

/** A text message. */
export const SmsDocument = Schema.Struct({
  ...shared,
  editor: Schema.Literal("sms-text-v1"),
  kind: Schema.Literals(["announcement-sms", "transactional-sms"]),
  body: Schema.Struct({ textTemplate: Template })
}).annotate({ identifier: "SmsDocument" })

/** A social post or a page, in a form that only its editor interprets. */
export const RichContentDocument = Schema.Struct({
  ...shared,
  editor: Schema.Literal("rich-content-v0"),
  kind: Schema.Literals(["announcement-social", "experience-page"]),
  body: Schema.Record(Schema.String, AnyJson).check(storableJson(bodyDepthMax))
}).annotate({ identifier: "RichContentDocument" })

/** A creative document in any of its forms. */
export const CreativeDocument = Schema.Union([EmailDocument, SmsDocument, RichContentDocument]).annotate({
  identifier: "CreativeDocument"
})
export type CreativeDocument = typeof CreativeDocument.Type

/** For responses, which must be cheap: a document that was decoded on receipt is not decoded again. */
const sent = ({ ast }: Schema.Constraint) =>
  AnyJson.check(
    Schema.makeFilter(() => true, {
      representation: { id: "usher/json", payload: null, schemas: [ast] },
      toJsonSchema: ({ schemas }) => schemas[0]!
    })
  )

/** A creative document in a response. */
export const SentDocument = sent(CreativeDocument)

/** A page or a social post in a response. */
export const SentRichContent = sent(RichContentDocument)

/** A creative document in a request, with the same description as in responses. */
export const ReceivedDocument = SentDocument.pipe(Schema.decodeTo(CreativeDocument))

/** Bytes of a document that messages use, at most. Mail programs cut off far smaller ones. */
export const messageDocumentBytesMax = 65_536
