package main

// The names of properties and values in PropertyAliases.txt and
// PropertyValueAliases.txt of Unicode 17.0: short, long, others.
// The npm package has only the long names.

// A flag after the names says which syntax lacks them: !r for Rust's, !j for
// ECMAScript's.

const binaryNames = `
ASCII !r
Any !r
Assigned !r
AHex ASCII_Hex_Digit
Alpha Alphabetic
Bidi_C Bidi_Control
Bidi_M Bidi_Mirrored
CI Case_Ignorable
Cased
CWCF Changes_When_Casefolded
CWCM Changes_When_Casemapped
CWL Changes_When_Lowercased
CWKCF Changes_When_NFKC_Casefolded !r
CWT Changes_When_Titlecased
CWU Changes_When_Uppercased
Dash
DI Default_Ignorable_Code_Point
Dep Deprecated
Dia Diacritic
Emoji
EComp Emoji_Component
EMod Emoji_Modifier
EBase Emoji_Modifier_Base
EPres Emoji_Presentation
ExtPict Extended_Pictographic
Ext Extender
Gr_Base Grapheme_Base
Gr_Ext Grapheme_Extend
Gr_Link Grapheme_Link !j
Hex Hex_Digit
Hyphen !j
IDSB IDS_Binary_Operator
IDST IDS_Trinary_Operator
IDSU IDS_Unary_Operator !j
ID_Compat_Math_Continue !j
ID_Compat_Math_Start !j
IDC ID_Continue
IDS ID_Start
Ideo Ideographic
Join_C Join_Control
LOE Logical_Order_Exception
Lower Lowercase
Math
MCM Modifier_Combining_Mark !j
NChar Noncharacter_Code_Point
OAlpha Other_Alphabetic !j
ODI Other_Default_Ignorable_Code_Point !j
OGr_Ext Other_Grapheme_Extend !j
OIDC Other_ID_Continue !j
OIDS Other_ID_Start !j
OLower Other_Lowercase !j
OMath Other_Math !j
OUpper Other_Uppercase !j
Pat_Syn Pattern_Syntax
Pat_WS Pattern_White_Space
PCM Prepended_Concatenation_Mark !j
QMark Quotation_Mark
Radical
RI Regional_Indicator
STerm Sentence_Terminal
SD Soft_Dotted
Term Terminal_Punctuation
UIdeo Unified_Ideograph
Upper Uppercase
VS Variation_Selector
space White_Space WSpace
XIDC XID_Continue
XIDS XID_Start
`

const categoryNames = `
C Other
Cc Control cntrl
Cf Format
Cn Unassigned
Co Private_Use
Cs Surrogate !r
L Letter
LC Cased_Letter
Ll Lowercase_Letter
Lm Modifier_Letter
Lo Other_Letter
Lt Titlecase_Letter
Lu Uppercase_Letter
M Mark Combining_Mark
Mc Spacing_Mark
Me Enclosing_Mark
Mn Nonspacing_Mark
N Number
Nd Decimal_Number digit
Nl Letter_Number
No Other_Number
P Punctuation punct
Pc Connector_Punctuation
Pd Dash_Punctuation
Pe Close_Punctuation
Pf Final_Punctuation
Pi Initial_Punctuation
Po Other_Punctuation
Ps Open_Punctuation
S Symbol
Sc Currency_Symbol
Sk Modifier_Symbol
Sm Math_Symbol
So Other_Symbol
Z Separator
Zl Line_Separator
Zp Paragraph_Separator
Zs Space_Separator
`

const graphemeNames = `
CN Control
CR
EX Extend
L
LF
LV
LVT
PP Prepend
RI Regional_Indicator
SM SpacingMark
T
V
ZWJ
`

const wordNames = `
LE ALetter
CR
DQ Double_Quote
Extend
EX ExtendNumLet
FO Format
HL Hebrew_Letter
KA Katakana
LF
ML MidLetter
MN MidNum
MB MidNumLet
NL Newline
NU Numeric
RI Regional_Indicator
SQ Single_Quote
WSegSpace
ZWJ
`

const sentenceNames = `
AT ATerm
CR
CL Close
EX Extend
FO Format
LF
LO Lower
NU Numeric
LE OLetter
SC SContinue
ST STerm
SE Sep
SP Sp
UP Upper
`

const scriptNames = `
Adlm Adlam
Ahom Ahom
Hluw Anatolian_Hieroglyphs
Arab Arabic
Armn Armenian
Avst Avestan
Bali Balinese
Bamu Bamum
Bass Bassa_Vah
Batk Batak
Beng Bengali
Berf Beria_Erfe
Bhks Bhaiksuki
Bopo Bopomofo
Brah Brahmi
Brai Braille
Bugi Buginese
Buhd Buhid
Cans Canadian_Aboriginal
Cari Carian
Aghb Caucasian_Albanian
Cakm Chakma
Cham Cham
Cher Cherokee
Chrs Chorasmian
Zyyy Common
Copt Coptic Qaac
Xsux Cuneiform
Cprt Cypriot
Cpmn Cypro_Minoan
Cyrl Cyrillic
Dsrt Deseret
Deva Devanagari
Diak Dives_Akuru
Dogr Dogra
Dupl Duployan
Egyp Egyptian_Hieroglyphs
Elba Elbasan
Elym Elymaic
Ethi Ethiopic
Gara Garay
Geor Georgian
Glag Glagolitic
Goth Gothic
Gran Grantha
Grek Greek
Gujr Gujarati
Gong Gunjala_Gondi
Guru Gurmukhi
Gukh Gurung_Khema
Hani Han
Hang Hangul
Rohg Hanifi_Rohingya
Hano Hanunoo
Hatr Hatran
Hebr Hebrew
Hira Hiragana
Armi Imperial_Aramaic
Zinh Inherited Qaai
Phli Inscriptional_Pahlavi
Prti Inscriptional_Parthian
Java Javanese
Kthi Kaithi
Knda Kannada
Kana Katakana
Kawi Kawi
Kali Kayah_Li
Khar Kharoshthi
Kits Khitan_Small_Script
Khmr Khmer
Khoj Khojki
Sind Khudawadi
Krai Kirat_Rai
Laoo Lao
Latn Latin
Lepc Lepcha
Limb Limbu
Lina Linear_A
Linb Linear_B
Lisu Lisu
Lyci Lycian
Lydi Lydian
Mahj Mahajani
Maka Makasar
Mlym Malayalam
Mand Mandaic
Mani Manichaean
Marc Marchen
Gonm Masaram_Gondi
Medf Medefaidrin
Mtei Meetei_Mayek
Mend Mende_Kikakui
Merc Meroitic_Cursive
Mero Meroitic_Hieroglyphs
Plrd Miao
Modi Modi
Mong Mongolian
Mroo Mro
Mult Multani
Mymr Myanmar
Nbat Nabataean
Nagm Nag_Mundari
Nand Nandinagari
Talu New_Tai_Lue
Newa Newa
Nkoo Nko
Nshu Nushu
Hmnp Nyiakeng_Puachue_Hmong
Ogam Ogham
Olck Ol_Chiki
Onao Ol_Onal
Hung Old_Hungarian
Ital Old_Italic
Narb Old_North_Arabian
Perm Old_Permic
Xpeo Old_Persian
Sogo Old_Sogdian
Sarb Old_South_Arabian
Orkh Old_Turkic
Ougr Old_Uyghur
Orya Oriya
Osge Osage
Osma Osmanya
Hmng Pahawh_Hmong
Palm Palmyrene
Pauc Pau_Cin_Hau
Phag Phags_Pa
Phnx Phoenician
Phlp Psalter_Pahlavi
Rjng Rejang
Runr Runic
Samr Samaritan
Saur Saurashtra
Shrd Sharada
Shaw Shavian
Sidd Siddham
Sidt Sidetic
Sgnw SignWriting
Sinh Sinhala
Sogd Sogdian
Sora Sora_Sompeng
Soyo Soyombo
Sund Sundanese
Sunu Sunuwar
Sylo Syloti_Nagri
Syrc Syriac
Tglg Tagalog
Tagb Tagbanwa
Tale Tai_Le
Lana Tai_Tham
Tavt Tai_Viet
Tayo Tai_Yo
Takr Takri
Taml Tamil
Tnsa Tangsa
Tang Tangut
Telu Telugu
Thaa Thaana
Thai Thai
Tibt Tibetan
Tfng Tifinagh
Tirh Tirhuta
Todr Todhri
Tols Tolong_Siki
Toto Toto
Tutg Tulu_Tigalari
Ugar Ugaritic
Zzzz Unknown !r
Vaii Vai
Vith Vithkuqi
Wcho Wancho
Wara Warang_Citi
Yezi Yezidi
Yiii Yi
Zanb Zanabazar_Square
`
