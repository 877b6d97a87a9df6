/** What a part of a new drop asks for. */
import type { Choice } from "../form/Form.ts"

/** One question of a part. */
export interface Ask {
  readonly name: string
  readonly label: string
  readonly hint?: string
  /** `span` is a number with a unit: minutes, hours or days. `minutes` may be a fraction. */
  readonly type: "number" | "minutes" | "amount" | "span" | "date" | "time" | "days" | "choice" | "stock"
  /** Of a `choice`. */
  readonly choices?: ReadonlyArray<Choice>
  /** True for a queue in front of a site. Few drops need it. */
  readonly isOfSite?: true
  /** True for a question that only a mechanism of a stock has. */
  readonly isOfStock?: true
  readonly value?: string | number
  /** True for the units of what is sold: the stock if it is counted, else its `value`. */
  readonly areSoldUnits?: true
  readonly min?: number
  readonly max?: number
  readonly isOptional?: boolean
  /** The settings of the mechanism that follow from it; `setting.inner` for a value in one. */
  readonly sets: ReadonlyArray<string>
}
