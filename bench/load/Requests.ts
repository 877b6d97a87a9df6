/** The requests of a run, built before it starts in one buffer, so that sending a request is a view on the buffer. */
import { readFileSync } from "node:fs"
import type { RequestTemplate, RequestTemplates, TokenRange } from "./Job.ts"

/** The header lines that a current browser adds to a request of a script on a page of another origin. */
export const browserHeaders = [
  "Accept: */*",
  "Accept-Encoding: gzip, deflate, br, zstd",
  "Accept-Language: en-GB,en;q=0.9,de;q=0.8",
  "Cache-Control: no-cache",
  "Origin: https://shop.example.com",
  "Referer: https://shop.example.com/",
  "Sec-Fetch-Dest: empty",
  "Sec-Fetch-Mode: cors",
  "Sec-Fetch-Site: cross-site",
  "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/147.0.0.0 Safari/537.36"
]
  .map((line) => `${line}\r\n`)
  .join("")

const numberMark = "{number}"
const firstNumber = 100_000_000

export interface Requests {
  readonly count: number
  at(index: number): Uint8Array
}

/** Builds one request for each token of the range. */
export function makeRequests(template: RequestTemplate | RequestTemplates, range: TokenRange): Requests {
  const file = readFileSync(range.file)
  const starts: Array<number> = [0]
  for (let at = file.indexOf(10); at >= 0; at = file.indexOf(10, at + 1)) starts.push(at + 1)
  const count = Math.min(range.count, starts.length - 1 - range.from)
  if (count < 1) throw new Error(`The token file ${range.file} has no tokens from ${range.from} on`)

  const heads = ("heads" in template ? template.heads : [template.head]).map((head) => Buffer.from(head, "latin1"))
  const longestHead = Math.max(...heads.map((head) => head.length))
  const isNumbered = template.tail.includes(numberMark)
  const tail = Buffer.from(template.tail.replace(numberMark, String(firstNumber)), "latin1")
  const tokenBytes = starts[range.from + count]! - starts[range.from]! - count
  const all = Buffer.allocUnsafe(tokenBytes + count * (longestHead + tail.length))
  const offsets = new Float64Array(count + 1)
  let length = 0
  for (let index = 0; index < count; index++) {
    offsets[index] = length
    length += heads[index % heads.length]!.copy(all, length)
    length += file.copy(all, length, starts[range.from + index], starts[range.from + index + 1]! - 1)
    if (isNumbered)
      length += all.write(template.tail.replace(numberMark, String(firstNumber + range.from + index)), length, "latin1")
    else length += tail.copy(all, length)
  }
  offsets[count] = length
  return { count, at: (index) => all.subarray(offsets[index], offsets[index + 1]) }
}
