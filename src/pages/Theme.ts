/**
 * An organization's look as CSS variables. A value that is no colour, no list of fonts or no safe address is dropped,
 * and contrast is made: text on a colour is black or white, and text that cannot be read on its background is replaced.
 */
import { isPicturePath } from "../domain/catalogue/Picture.ts"
import { isFontPath } from "../domain/catalogue/Font.ts"
import type { Theme } from "../domain/experience/Experience.ts"

/** The parts of a theme that a page shows. */
export interface Look {
  /** A rule for `:root`, empty without a theme. */
  readonly css: string
  /** The rules for uploaded fonts. They are at the page's own origin, so a widget has none. */
  readonly faces: string
  /** The addresses of these fonts. */
  readonly fontUrls: ReadonlyArray<string>
  /** The colour of a browser's frame. */
  readonly frame: string | undefined
  readonly logoUrl: string | undefined
  readonly headerImageUrl: string | undefined
  /** The picture where a link is shared. */
  readonly shareImageUrl: string | undefined
  /** The fields of the theme that were dropped or replaced. */
  readonly replaced: ReadonlyArray<string>
  /** The pictures that pages do not show, because they are not at a safe address. */
  readonly hidden: ReadonlyArray<string>
}

type Colour = readonly [red: number, green: number, blue: number]

/** Contrast of text, by WCAG 2.2 (1.4.3). */
const contrastMin = 4.5

/** Contrast of large text, of borders and of controls (1.4.11). */
const controlContrastMin = 3

const black: Colour = [0, 0, 0]
const white: Colour = [255, 255, 255]

/** Makes the look of a theme. */
export const lookOf = (theme: typeof Theme.Type | null | undefined): Look => {
  const builder = new LookBuilder(theme ?? {})
  const background = builder.colours()
  builder.fonts()
  const pictures = {
    logoUrl: secure(theme?.logoUrl),
    headerImageUrl: secure(theme?.headerImageUrl),
    shareImageUrl: secure(theme?.shareImageUrl)
  }
  return {
    css: builder.css(),
    faces: builder.faces(),
    fontUrls: [...builder.fontUrls.values()],
    frame: background === undefined ? undefined : css(background),
    ...pictures,
    replaced: [...builder.replaced],
    hidden: (["logoUrl", "headerImageUrl", "shareImageUrl"] as const).filter(
      (field) => theme?.[field] !== undefined && pictures[field] === undefined
    )
  }
}

type Field = Exclude<keyof typeof Theme.Type, "variant" | "showsUnitsLeft" | "address">

/** One look that is being made. */
class LookBuilder {
  readonly replaced = new Set<string>()
  /** By the variable that names the font. */
  readonly fontUrls = new Map<"font" | "heading", string>()
  private readonly variables = new Map<string, string>()
  private readonly theme: typeof Theme.Type
  private scheme = ""

  constructor(theme: typeof Theme.Type) {
    this.theme = theme
  }

  /** Sets the colours. Returns the background, if the theme has one. */
  colours(): Colour | undefined {
    const [background, surface, text] = [this.colour("background"), this.colour("surface"), this.colour("text")]
    // One given colour of the page decides the others, because light and dark must not be mixed.
    const isThemed = background !== undefined || surface !== undefined || text !== undefined
    const ground = background ?? (text === undefined ? (surface ?? white) : opposite(text))
    if (isThemed) this.page(ground, surface, text)
    const primary = this.colour("primary") ?? (isThemed ? opposite(ground) : undefined)
    if (primary === undefined) return background
    this.variables.set("primary", css(primary))
    this.variables.set("on-primary", css(opposite(primary)))
    // A button gets a border if its colour is near the page's.
    if (contrast(primary, ground) < controlContrastMin) this.variables.set("edge", "var(--fg)")
    return background
  }

  fonts(): void {
    for (const [name, field, urlField] of [
      ["font", "fontFamily", "fontUrl"],
      ["heading", "fontHeading", "headingFontUrl"]
    ] as const) {
      const [fonts, url] = [this.theme[field], this.theme[urlField]]
      const isList = fonts !== undefined && isFontList(fonts)
      if (fonts !== undefined && !isList) this.replaced.add(field)
      const isUploaded = url !== undefined && isFontPath(url)
      if (isUploaded) this.fontUrls.set(name, url)
      const family = [...(isUploaded ? [`usher-${name}`] : []), ...(isList ? [fonts] : isUploaded ? ["system-ui"] : [])]
      if (family.length > 0) this.variables.set(name, family.join(","))
    }
    if (this.theme.variant !== undefined) this.variables.set("radius", radii[this.theme.variant])
  }

  /** A text is shown in another font until its own is there. */
  faces(): string {
    return [...this.fontUrls]
      .map(([name, url]) => `@font-face{font-family:usher-${name};src:url(${url}) format("woff2");font-display:swap}`)
      .join("")
  }

  css(): string {
    const body = [...this.variables].map(([name, value]) => `--${name}:${value}`).join(";")
    return body === "" ? "" : `:root{${this.scheme}${body}}`
  }

  private page(ground: Colour, surface: Colour | undefined, text: Colour | undefined): void {
    // Away from the ink, so that a card is not harder to read than the page.
    const ink = opposite(ground)
    const isFit = surface !== undefined && contrast(ink, surface) >= contrastMin
    if (surface !== undefined && !isFit) this.replaced.add("surface")
    const raised = isFit ? surface : mixed(ground, opposite(ink), raisedShare)
    const grounds = [ground, raised]
    const fg = this.legible(text, "text", grounds)
    const faint = mixed(fg, ground, faintShare)
    const isFaintLegible = grounds.every((on) => contrast(faint, on) >= contrastMin)
    const colours = {
      bg: ground,
      surface: raised,
      fg,
      line: mixed(ground, fg, lineShare),
      muted: this.legible(this.colour("muted") ?? (isFaintLegible ? faint : fg), "muted", grounds),
      danger: this.legible(this.colour("danger") ?? statusColour(ground, "danger"), "danger", grounds),
      ok: this.legible(this.colour("success") ?? statusColour(ground, "ok"), "success", grounds)
    }
    for (const [name, colour] of Object.entries(colours)) this.variables.set(name, css(colour))
    this.scheme = `color-scheme:${luminance(ground) > lightLuminance ? "light" : "dark"};`
  }

  /** The colour of a field. A value that is none is dropped. */
  private colour(field: Field): Colour | undefined {
    const text = this.theme[field]
    const read = text === undefined ? undefined : colourOf(text)
    if (text !== undefined && read === undefined) this.replaced.add(field)
    return read
  }

  /** The wanted colour of text, or black or white if it cannot be read on every ground. */
  private legible(wanted: Colour | undefined, field: Field, grounds: ReadonlyArray<Colour>): Colour {
    if (wanted !== undefined && grounds.every((on) => contrast(wanted, on) >= contrastMin)) return wanted
    if (wanted !== undefined && this.theme[field] !== undefined) this.replaced.add(field)
    return opposite(grounds[0]!)
  }
}

/** Shares of a second colour in a mixture. */
const raisedShare = 0.5
const faintShare = 0.2
const lineShare = 0.18

/** From this luminance on a page counts as light. */
const lightLuminance = 0.4

const radii = { default: ".625rem", retro: "0", rounded: "1.25rem", clean: ".25rem" } as const

const statusColour = (ground: Colour, kind: "danger" | "ok"): Colour => {
  const isLight = luminance(ground) > lightLuminance
  if (kind === "danger") return isLight ? [166, 20, 20] : [255, 160, 160]
  return isLight ? [18, 92, 46] : [142, 230, 168]
}

/** Reads `#rgb`, `#rrggbb`, `rgb(r, g, b)` or `hsl(h, s%, l%)`. Transparent colours have no contrast of their own. */
export const colourOf = (text: string): Colour | undefined => {
  const value = text.trim().toLowerCase()
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})$/.exec(value)?.[1]
  if (hex !== undefined) {
    const six = hex.length === 6 ? hex : [...hex].map((digit) => digit + digit).join("")
    return [0, 2, 4].map((from) => Number.parseInt(six.slice(from, from + 2), 16)) as unknown as Colour
  }
  const [, red, green, blue] = /^rgb\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*\)$/.exec(value) ?? []
  if (red !== undefined) {
    const parts = [Number(red), Number(green), Number(blue)] as const
    return parts.every((part) => part <= 255) ? parts : undefined
  }
  const [, hue, saturation, lightness] =
    /^hsl\(\s*(\d{1,3})(?:deg)?[\s,]+(\d{1,3})%[\s,]+(\d{1,3})%\s*\)$/.exec(value) ?? []
  return hue === undefined ? undefined : fromHsl(Number(hue), Number(saturation) / 100, Number(lightness) / 100)
}

const fromHsl = (hue: number, saturation: number, lightness: number): Colour | undefined => {
  if (hue > 360 || saturation > 1 || lightness > 1) return undefined
  const a = saturation * Math.min(lightness, 1 - lightness)
  const part = (n: number) => {
    const k = (n + hue / 30) % 12
    return Math.round(255 * (lightness - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))))
  }
  return [part(0), part(8), part(4)]
}

const luminance = (colour: Colour): number => {
  const [red, green, blue] = colour.map((part) => {
    const share = part / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as unknown as Colour
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** Returns the contrast of two colours, from 1 to 21. */
export const contrast = (a: Colour, b: Colour): number => {
  const [light, dark] = [luminance(a), luminance(b)].toSorted((one, other) => other - one) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** Returns black or white, whichever can be read better. */
const opposite = (ground: Colour): Colour => (contrast(ground, white) >= contrast(ground, black) ? white : black)

/** Returns the colour of text on a ground, and its name. */
export const textOn = (ground: Colour): { readonly colour: Colour; readonly name: "white" | "black" } => {
  const colour = opposite(ground)
  return { colour, name: colour === white ? "white" : "black" }
}

const mixed = (a: Colour, b: Colour, share: number): Colour =>
  a.map((part, index) => Math.round(part + (b[index]! - part) * share)) as unknown as Colour

const css = (colour: Colour): string => `#${colour.map((part) => part.toString(16).padStart(2, "0")).join("")}`

/** Names of fonts, with or without quotes, separated by commas. */
const isFontList = (text: string): boolean =>
  text.split(",").every((name) => /^(?:"[\w -]+"|'[\w -]+'|[\w -]+)$/.test(name.trim()))

/** Returns the address of an uploaded picture, or an HTTPS address without user and password; else undefined. */
const secure = (address: string | undefined): string | undefined => {
  if (address !== undefined && isPicturePath(address)) return address
  const url = address === undefined ? null : URL.parse(address)
  return url?.protocol === "https:" && url.username === "" && url.password === "" ? url.href : undefined
}
