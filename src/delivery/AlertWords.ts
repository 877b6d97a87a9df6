/**
 * The words of emails that consumers ask for, in the languages of rooms. English stands for a language without words. In
 * languages in which a brand chooses how to address people, they address nobody.
 */

export interface AlertWords {
  /** Of `{time}`. */
  readonly opens: string
  readonly outbid: string
  readonly goOn: string
  readonly asked: string
  readonly end: string
}

const words: { readonly [language: string]: AlertWords } = {
  en: {
    opens: "Opens {time}",
    outbid: "You have been outbid",
    goOn: "Go to the page",
    asked: "You get this email because you asked for it.",
    end: "Stop these emails"
  },
  de: {
    opens: "Öffnet am {time}",
    outbid: "Es gibt ein höheres Gebot",
    goOn: "Zur Seite",
    asked: "Diese E-Mail wurde auf der Seite angefordert.",
    end: "Diese E-Mails abbestellen"
  },
  fr: {
    opens: "Ouverture : {time}",
    outbid: "Une enchère plus haute a été faite",
    goOn: "Aller à la page",
    asked: "Cet e-mail a été demandé sur la page.",
    end: "Ne plus recevoir ces e-mails"
  },
  es: {
    opens: "Apertura: {time}",
    outbid: "Hay una puja más alta",
    goOn: "Ir a la página",
    asked: "Este correo se pidió en la página.",
    end: "No recibir más estos correos"
  },
  it: {
    opens: "Apertura: {time}",
    outbid: "La tua offerta è stata superata",
    goOn: "Vai alla pagina",
    asked: "Ricevi questa e-mail perché l’hai richiesta.",
    end: "Non ricevere più queste e-mail"
  },
  "pt-BR": {
    opens: "Abertura: {time}",
    outbid: "Seu lance foi superado",
    goOn: "Ir para a página",
    asked: "Você recebe este e-mail porque o pediu.",
    end: "Parar de receber estes e-mails"
  },
  nl: {
    opens: "Opent: {time}",
    outbid: "Er is een hoger bod",
    goOn: "Naar de pagina",
    asked: "Om deze e-mail is op de pagina gevraagd.",
    end: "Deze e-mails stoppen"
  },
  pl: {
    opens: "Otwarcie: {time}",
    outbid: "Twoja oferta została przebita",
    goOn: "Przejdź do strony",
    asked: "Otrzymujesz tę wiadomość na własną prośbę.",
    end: "Nie wysyłaj więcej takich wiadomości"
  },
  tr: {
    opens: "Açılış: {time}",
    outbid: "Teklifin geçildi",
    goOn: "Sayfaya git",
    asked: "Bu e-postayı istediğin için alıyorsun.",
    end: "Bu e-postaları durdur"
  },
  id: {
    opens: "Dibuka: {time}",
    outbid: "Tawaran Anda terlampaui",
    goOn: "Buka halaman",
    asked: "Anda menerima email ini karena Anda memintanya.",
    end: "Hentikan email ini"
  },
  ja: {
    opens: "開始：{time}",
    outbid: "ほかの人が上回りました",
    goOn: "ページを開く",
    asked: "このメールは、お申し込みによりお送りしています。",
    end: "このメールの配信を停止する"
  },
  ko: {
    opens: "시작: {time}",
    outbid: "다른 사람이 더 높게 입찰했습니다",
    goOn: "페이지로 이동",
    asked: "요청하신 이메일입니다.",
    end: "이 이메일 그만 받기"
  },
  "zh-Hans": {
    opens: "开始时间：{time}",
    outbid: "有人出价高于您",
    goOn: "前往页面",
    asked: "您收到此邮件，是因为您曾要求提醒。",
    end: "不再接收此类邮件"
  },
  "zh-Hant": {
    opens: "開始時間：{time}",
    outbid: "有人出價高於您",
    goOn: "前往頁面",
    asked: "您收到此郵件，是因為您曾要求提醒。",
    end: "不再接收此類郵件"
  },
  ar: {
    opens: "الافتتاح: {time}",
    outbid: "تجاوز أحدهم عرضك",
    goOn: "انتقل إلى الصفحة",
    asked: "تصلك هذه الرسالة لأنك طلبتها.",
    end: "أوقف هذه الرسائل"
  },
  he: {
    opens: "פתיחה: {time}",
    outbid: "הוגשה הצעה גבוהה משלך",
    goOn: "לדף",
    asked: "הודעה זו נשלחה לבקשתך.",
    end: "להפסקת ההודעות האלה"
  }
}

/** The languages with words. */
export const alertLanguages = Object.keys(words)

/** Returns the words of a language, or those of the same language in another region. Chinese has two scripts. */
export const alertWordsOf = (language: string): AlertWords & { readonly language: string } => {
  const primary = language.split("-", 1)[0]!
  const chinese = /^zh-(hant|tw|hk|mo)/i.test(language) ? "zh-Hant" : "zh-Hans"
  const name =
    [language, primary === "zh" ? chinese : primary].find((name) => Object.hasOwn(words, name)) ??
    alertLanguages.find((name) => name.startsWith(`${primary}-`)) ??
    "en"
  return { language: name, ...words[name]! }
}
