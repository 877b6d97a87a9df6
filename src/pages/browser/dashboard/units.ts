/**
 * Keeps the units of a new drop equal to the stock of its product, until a person types another number. Without a counted
 * stock they are what the page had. A drop of several parts divides its stock among them, which only a person can.
 */
export const unitsOfStock = (): void => {
  const form = document.querySelector<HTMLFormElement>("form[data-stocks]")
  const fields = form?.querySelectorAll<HTMLInputElement>("[data-units]")
  const units = fields?.[0]
  if (!form || !units || fields?.length !== 1) return
  const stocks = JSON.parse(form.dataset["stocks"]!) as { readonly [productId: string]: number }
  const first = units.value
  let written = first
  const valueOf = (name: string): string => {
    const field = form.elements.namedItem(name)
    return field instanceof HTMLInputElement || field instanceof HTMLSelectElement ? field.value.trim() : ""
  }

  /** The stock of the sizes that are typed in; undefined if one of them is not counted. */
  const typedStock = (): number | undefined => {
    const counts = Array.from(form.querySelectorAll<HTMLInputElement>("[name^='size.']"))
      .filter(({ value }) => value.trim() !== "")
      .map(({ name }) => valueOf(name.replace("size", "stock")))
    const isCounted = counts.length > 0 && counts.every((count) => /^[0-9]+$/.test(count))
    return isCounted ? counts.reduce((sum, count) => sum + Number(count), 0) : undefined
  }

  form.addEventListener("input", () => {
    if (units.value !== written) return
    const product = valueOf("product")
    const stock = product === "new" ? typedStock() : stocks[product]
    written = stock === undefined || stock === 0 ? first : `${stock}`
    units.value = written
  })
}
