/**
 * The creative document of an experience page (interface document 2.2): what is shown or sent, in one of three forms, told
 * apart by the editor it was made with.
 */
import { Schema } from "effect"
import { Theme } from "../Experience.ts"
import { AnyJson, storableJson, text } from "../../values/Text.ts"
import { EmailNodes } from "./EmailNode.ts"

/** How deep the free-form body may be nested: what an editor makes of lists in lists goes deep. */
export const bodyDepthMax = 128

/** As long as a whole body may be: nothing that can be sent at all is too long. */
const Template = text({ minLength: 1, maxLength: 1_048_576 })

const shared = {
  /** Not a literal by itself: the variant is identified by its editor alone. */
  schemaVersion: Schema.Literals([1]),
  themeOverrides: Schema.optionalKey(Theme)
}

/** An email, node by node. */
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

/** A social post or a page, in a form that only its editor knows. */
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

/** For answers, which must cost little: a document that was decoded when it came is not decoded again. */
const sent = ({ ast }: Schema.Constraint) =>
  AnyJson.check(
    Schema.makeFilter(() => true, {
      representation: { id: "usher/json", payload: null, schemas: [ast] },
      toJsonSchema: ({ schemas }) => schemas[0]!
    })
  )

/** A creative document in an answer. */
export const SentDocument = sent(CreativeDocument)

/** A page, or a social post, in an answer. */
export const SentRichContent = sent(RichContentDocument)

/** The same as it comes in, described as what goes out is. */
export const ReceivedDocument = SentDocument.pipe(Schema.decodeTo(CreativeDocument))
