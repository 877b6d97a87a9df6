/**
 * Checks a draw in the visitor's browser, by the same code as `usher verify-draw`: it downloads the proof, computes the
 * draw again, and shows each check. It also finds the visitor's own entry, by the session or by a saved receipt.
 */
import * as Option from "effect/Option"
import { verifyBeacon } from "../../beacon/Quicknet.ts"
import type { Proof } from "../../domain/draw/proof/Proof.ts"
import { type Check, type Report, verify } from "../../domain/draw/proof/Verification.ts"
import { fill, number } from "./formats.ts"

/** The contents of a receipt. */
interface Receipt {
  readonly drawId: string
  readonly entryId: string
  readonly seedCommitment: string
}

const box = document.getElementById("checks")!
const result = document.getElementById("result")!
const own = document.getElementById("own")!
const words: Record<string, string> = JSON.parse(document.getElementById("words")!.textContent)
const { proof: proofUrl, receipt: receiptUrl } = box.dataset as { readonly proof: string; readonly receipt: string }

/** True if all numbers and ids have the shape that the algorithm computes with. */
const isWellFormed = (proof: Proof): boolean =>
  /^[0-9a-f]{64}$/.test(proof.seed) &&
  /^([0-9a-f]{64})?$/.test(proof.beacon) &&
  Number.isSafeInteger(proof.winnerCount) &&
  proof.entries.every(({ id, weight }) => /^[0-9a-f]{26}$/.test(id) && Number.isSafeInteger(weight) && weight > 0)

/** The checks; undefined if the proof is none. */
const reportOf = (proof: Proof): Report | undefined => {
  try {
    return isWellFormed(proof) ? verify(proof, Option.some(verifyBeacon)) : undefined
  } catch {
    return undefined
  }
}

const line = ({ what, holds }: Check): HTMLElement => {
  const item = document.createElement("li")
  item.className = holds ? "holds" : "fails"
  const text = document.createElement("span")
  text.lang = "en"
  text.textContent = what
  const mark = document.createElement("strong")
  mark.textContent = words[holds ? "holds" : "fails"]!
  item.append(mark, " ", text)
  return item
}

const conclude = (proof: Proof | undefined, isValid: boolean): void => {
  result.className = isValid ? "ok" : "error"
  result.textContent =
    proof !== undefined && isValid
      ? fill(words["proofHolds"]!, {
          winners: number.format(proof.winners.length),
          entries: number.format(proof.entries.length)
        })
      : words["proofFails"]!
}

/** Shows the place of an entry. A receipt of another draw, or under another commitment, is none of this draw. */
const showEntry = (receipt: Receipt, proof: Proof, { order }: Report): void => {
  const place = order.indexOf(receipt.entryId) + 1
  const isOf = receipt.drawId === proof.drawId && receipt.seedCommitment === proof.seedCommitment
  const isListed = isOf && place > 0
  own.className = isListed ? "ok" : "error"
  own.textContent = isListed ? fill(words["entryPlace"]!, { place: number.format(place) }) : words["entryMissing"]!
}

/** The receipt of the visitor's session, if it has an entry. */
const savedHere = async (): Promise<Receipt | undefined> => {
  if (!/(?:^|; )usher-here=1/.test(document.cookie)) return undefined
  const reply = await fetch(receiptUrl, { credentials: "same-origin" })
  return reply.ok ? ((await reply.json()) as Receipt) : undefined
}

async function check(): Promise<void> {
  const reply = await fetch(proofUrl)
  if (!reply.ok) throw new Error(`${reply.status}`)
  const proof = (await reply.json()) as Proof
  const report = reportOf(proof)
  if (report === undefined) return conclude(undefined, false)
  box.replaceChildren(...report.checks.map(line))
  conclude(proof, report.isValid)
  const file = document.querySelector<HTMLInputElement>("input[type=file]")!
  file.disabled = false
  file.addEventListener("change", () => {
    const nothing: Receipt = { drawId: "", entryId: "", seedCommitment: "" }
    const read = async () => JSON.parse((await file.files?.[0]?.text()) ?? "") as Receipt
    void read().then(
      (receipt) => showEntry(receipt, proof, report),
      () => showEntry(nothing, proof, report)
    )
  })
  const receipt = await savedHere()
  if (receipt !== undefined) showEntry(receipt, proof, report)
}

/** A browser that is too old, or has no connection, leaves the command. */
if ("toSorted" in Array.prototype) {
  result.textContent = words["checking"]!
  check().catch(() => (result.textContent = ""))
}
