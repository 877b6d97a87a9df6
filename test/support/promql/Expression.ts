/**
 * Parses the part of PromQL that the alert rules use: selectors with equal labels, ranges, numbers, calls, aggregations
 * with `by`, and binary operators. Anything else is an error, so a rule outside of this part cannot pass unseen.
 */
export type Expression =
  | { readonly type: "number"; readonly value: number }
  | {
      readonly type: "selector"
      readonly name: string
      readonly labels: Readonly<Record<string, string>>
      /** Seconds; absent for the present value. */
      readonly range?: number
    }
  | { readonly type: "call"; readonly name: string; readonly arguments: ReadonlyArray<Expression> }
  | {
      readonly type: "aggregation"
      readonly name: string
      readonly by: ReadonlyArray<string>
      readonly of: Expression
    }
  | { readonly type: "binary"; readonly operator: string; readonly left: Expression; readonly right: Expression }

/** The operators, the loosest first. All are left-associative. */
const levels = [
  ["==", "!=", "<=", ">=", "<", ">"],
  ["+", "-"],
  ["*", "/"]
] as const

export const functions = ["rate", "abs", "max_over_time", "histogram_quantile"]
export const aggregations = ["sum", "max", "min"]

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }
const tokenPattern =
  /\s*(?:(\d+(?:\.\d+)?(?![\w.]))|([a-zA-Z_]\w*)|"([^"]*)"|(\[\d+[smhd]\])|([=!<>]=|[-+*/<>=(){},]))/y

interface Token {
  readonly kind: "number" | "name" | "text" | "range" | "sign"
  readonly text: string
}

function tokensOf(source: string): ReadonlyArray<Token> {
  const tokens: Array<Token> = []
  const kinds = ["number", "name", "text", "range", "sign"] as const
  for (let at = 0; at < source.trimEnd().length; at = tokenPattern.lastIndex) {
    tokenPattern.lastIndex = at
    const match = tokenPattern.exec(source)
    if (match === null) throw new Error(`not understood: ${source.slice(at)}`)
    const index = kinds.findIndex((_, group) => match[group + 1] !== undefined)
    tokens.push({ kind: kinds[index]!, text: match[index + 1]! })
  }
  return tokens
}

export function parse(source: string): Expression {
  const parser = new Parser(tokensOf(source))
  const expression = parser.binary(0)
  parser.end()
  return expression
}

class Parser {
  private at = 0
  private readonly tokens: ReadonlyArray<Token>

  constructor(tokens: ReadonlyArray<Token>) {
    this.tokens = tokens
  }

  end(): void {
    if (this.at < this.tokens.length) throw new Error(`unexpected ${this.tokens[this.at]!.text}`)
  }

  binary(level: number): Expression {
    const operators: ReadonlyArray<string> | undefined = levels[level]
    if (operators === undefined) return this.primary()
    let left = this.binary(level + 1)
    for (let sign = this.peek(); sign?.kind === "sign" && operators.includes(sign.text); sign = this.peek()) {
      this.at++
      left = { type: "binary", operator: sign.text, left, right: this.binary(level + 1) }
    }
    return left
  }

  private primary(): Expression {
    const token = this.next()
    if (token.kind === "number") return { type: "number", value: Number(token.text) }
    if (token.text === "(" && token.kind === "sign") {
      const inner = this.binary(0)
      this.expect(")")
      return inner
    }
    if (token.kind !== "name") throw new Error(`unexpected ${token.text}`)
    if (aggregations.includes(token.text)) return this.aggregation(token.text)
    return this.peek()?.text === "(" ? this.call(token.text) : this.selector(token.text)
  }

  private aggregation(name: string): Expression {
    const by: Array<string> = []
    if (this.peek()?.text === "by") {
      this.at++
      this.expect("(")
      while (this.peek()?.text !== ")") {
        by.push(this.next().text)
        if (this.peek()?.text === ",") this.at++
      }
      this.expect(")")
    }
    this.expect("(")
    const of = this.binary(0)
    this.expect(")")
    return { type: "aggregation", name, by, of }
  }

  private call(name: string): Expression {
    if (!functions.includes(name)) throw new Error(`unknown function ${name}`)
    this.expect("(")
    const given = [this.binary(0)]
    while (this.peek()?.text === ",") {
      this.at++
      given.push(this.binary(0))
    }
    this.expect(")")
    return { type: "call", name, arguments: given }
  }

  private selector(name: string): Expression {
    const labels: Record<string, string> = {}
    if (this.peek()?.text === "{") {
      this.at++
      while (this.peek()?.text !== "}") {
        const label = this.next().text
        this.expect("=")
        labels[label] = this.next().text
        if (this.peek()?.text === ",") this.at++
      }
      this.expect("}")
    }
    const range = this.peek()
    if (range?.kind !== "range") return { type: "selector", name, labels }
    this.at++
    const [, number, unit] = /\[(\d+)(\w)\]/.exec(range.text)!
    return { type: "selector", name, labels, range: Number(number) * units[unit!]! }
  }

  private peek(): Token | undefined {
    return this.tokens[this.at]
  }

  private next(): Token {
    const token = this.tokens[this.at++]
    if (token === undefined) throw new Error("the expression ends too early")
    return token
  }

  private expect(text: string): void {
    const token = this.next()
    if (token.text !== text) throw new Error(`expected ${text}, found ${token.text}`)
  }
}
