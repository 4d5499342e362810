#include "text/pages/abbreviation_lists.h"

namespace fuselage {
namespace {

constexpr AbbreviationLists kLists[] = {
    {.language = "en",
     .never_ends =
         "Mr Mrs Ms Messrs Mx Dr Drs Prof Rev Fr Sr St Ste Hon Gen Col Lt Cpl Capt Cmdr Maj "
         "Sgt Adm Gov Sen Rep Pres Supt Insp Det Mt Ft vs v viz cf e.g i.e eg ie approx ca "
         "esp resp incl excl",
     .before_number =
         "No Nos no nos Nr p pp Fig Figs fig figs Vol vol vols Ch ch chap Sec sec Art art "
         "Eq eq eqs Tab para pt ver c fl b d",
     .may_end =
         "Inc Ltd Co Corp Bros Jr Sr Esq etc Etc al et.al a.m p.m A.M P.M U.S U.K U.S.A U.N E.U "
         "D.C B.C A.D Ph.D M.D B.A M.A Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec Mon Tue "
         "Tues Wed Thu Thurs Fri Sat Sun Blvd Rd Dept Univ Assn Assoc est ed eds min max hr hrs "
         "in ft lb lbs oz ext tel",
     .first_words =
         "A An And Another As At Because But By Did Do Does For From Had Has Have He Her His "
         "How However I If In Is It Its Many My No Not Now On One Or Our She So Some Such "
         "That The Their Then There These They This Those To Today Was We Were What When "
         "Where Which While Who Why With Would You Your",
     .ordinary_words =
         "Long Hat Link By Act Up Job Ok OK In To Do Is On Go All Or As Joe Card Jam DC "
         "Mart Cap PC Lib Pro Var Min Id AA AB AD I X Misc Est",
     .ordinals = false},
    {.language = "de",
     .never_ends =
         "Hr Hrn Fr Frl Dr Prof Dipl Ing St Hl bzw z.B z.b d.h u.a vgl Vgl ca Ca evtl ggf ggfs "
         "inkl exkl einschl zzgl bspw insb insbes i.d.R z.T z.Zt sog sogen bezgl bzgl "
         "gem lt i.A i.V v.a o.g u.g Mag Dres Gebr",
     .before_number = "Nr Nrn S Bd Bde Kap Art Abs Abb Tab Ziff Tel Fn Rn Rdnr Anm Az ISBN",
     .may_end =
         "usw etc u.s.w u.v.m u.ä u.Ä o.ä o.Ä Co Inc Ltd Jan Feb Mrz Apr Jun Jul Aug Sep Sept Okt "
         "Nov Dez Mo Di Mi Do Fr Sa So Str str Mio Mrd Tsd Std Min Sek Chr geb gest verh e.V a.D "
         "Jh Jhd bzw Abt Hrsg Aufl Ausg Verl Univ Bhf Hbf Pl St max min Max s.o s.u a.a.O ff f "
         "Jr Sr U.S U.S.A",
     .first_words =
         "Aber Alle Als Also Am An Auch Auf Aus Bei Da Damit Dann Das Dem Den Der Des "
         "Deshalb Die Dies Diese Dieser Dieses Doch Dort Du Durch Ein Eine Einer Er Es Für "
         "Hier Ich Ihr Ihre Im In Ist Jetzt Man Mein Mit Nach Nicht Noch Nun Nur Ob Oder Seit "
         "Sein Seine Sie So Und Unter Viele Von Vor Während Warum Was Weil Wenn Wer Wie Wir "
         "Wo Zu Zum Zur Zwei",
     .ordinary_words =
         "am Port So Test Best Fall Bed Alt Do Sa Mod Trans Int PIN Ing Co Art Temp Rel "
         "Gesch Gem Obj Akt",
     .ordinals = true},
    {.language = "fr",
     .never_ends =
         "M MM Mme Mmes Mlle Mlles Me Dr Pr Prof St Ste Mgr cf c.-à-d p.ex ex env av apr J.-C "
         "Jr chap",
     .before_number = "p pp n no nos vol fig art chap tél t al éq",
     .may_end =
         "etc janv févr avr juil sept oct nov déc bd éd coll s.a S.A S.A.R.L Cie Ltd Inc max min "
         "hab dép ann",
     .first_words =
         "À Après Au Aussi Avec Ce Ces Cet Cette Comme Dans De Depuis Des Donc Du Elle Elles En "
         "Et Il Ils Je La Le Les Leur Lors Mais Mon Nous On Or Ou Par Pas Pendant Plus Pour "
         "Puis Quand Qui Sa Sans Selon Ses Si Son Sous Sur Tout Tous Tu Un Une Vous",
     .ordinary_words = "jeu mer mar All Comm",
     .ordinals = false},
    {.language = "es",
     .never_ends =
         "Sr Sra Srta Sres Sras Dr Dra Dres D Dña Da Prof Profa Lic Ing Arq Gral Cnel Sta Sto S "
         "p.ej p.e ej cf cfr vs aprox Ud Uds Vd Vds Exmo Excmo Fr Mons Rvdo",
     .before_number = "núm núms n nº pág págs p pp fig figs vol art cap tel tfno aptdo",
     .may_end = "etc EE.UU EE UU a.C d.C a.m p.m S.A S.L Ltda Cía ene feb mar abr may jun jul ago "
                "sept sep "
                "oct nov dic Av Avda c máx mín dpto Jr",
     .first_words =
         "A Al Además Ahora Así Aunque Cada Como Con Cuando De Desde Después El Ella Ellas Ellos "
         "En "
         "Entonces Era Es Esa Ese Eso Esta Está Este Esto Estos Fue Hay Hoy La Las Lo Los Mi "
         "Muchos "
         "No Nos Nosotros Para Pero Por Porque Que Se Según Si Sin Sobre Su Sus También Te Todo "
         "Todos Tras Tu Un Una Y Yo Ya",
     .ordinary_words = "Bien Sol Rol Kit sol mar SA CA RAM All dom",
     .ordinals = false},
    {.language = "it",
     .never_ends =
         "sig Sig sigg Sigg sig.ra Sig.ra sig.na Sig.na dott Dott dott.ssa Dott.ssa dr Dr prof "
         "Prof "
         "prof.ssa Prof.ssa avv Avv ing Ing arch Arch geom on On rag S ss SS mons don cfr Cfr cf "
         "es p.es ad.es vs egr gent spett",
     .before_number = "n nn N pag pagg p pp fig vol art artt cap tel tav sez",
     .may_end =
         "ecc etc a.C d.C S.p.A S.r.l s.p.a s.r.l gen feb mar apr mag giu lug ago sett ott nov dic "
         "max min sec ca Jr U.S U.S.A",
     .first_words =
         "A Al Allora Anche Che Ci Come Con Così Da Dal Di Dopo Dove E È Ed Era Gli Ha Ho I Il In "
         "Io L La Le Lei Lo Loro Lui Ma Mi Nel Nella Noi Non O Oggi Per Perché Però Più Poi Quando "
         "Questa Questo Quindi Se Si Sono Su Tra Tu Tutti Un Una Voi",
     .ordinary_words = "on ver int all L",
     .ordinals = false},
    {.language = "pt",
     .never_ends = "Sr Sra Srs Sras Srta Dr Dra Drs Dras Prof Profa Eng D Dona Exmo Exma Sto Sta S "
                   "Pe Gen Cel "
                   "Cap p.ex ex cf vs aprox V",
     .before_number = "n nº núm p pp pág págs fig vol art arts cap tel séc",
     .may_end = "etc a.C d.C a.m p.m S.A Ltda Cia jan fev mar abr mai jun jul ago set out nov dez "
                "Av R máx "
                "mín Jr EUA E.U.A",
     .first_words =
         "A Ainda Além Ao Aos Após As Assim Até Cada Com Como De Depois Desde Do Dos E É Ela Elas "
         "Ele "
         "Eles Em Então Era Essa Esse Esta Este Eu Foi Há Hoje Isso Isto Já Mas Meu Muitos Na Nas "
         "Não No Nós Nos O Os Ou Para Pela Pelo Por Porque Quando Que Quem São Se Segundo Sem Seu "
         "Sob Sobre Sua Também Tem Todo Todos Tu Um Uma Você Vocês",
     .ordinary_words =
         "port mar out sup fem col pal cont esp set mal div lin mai comp prod fac relat ind ex",
     .ordinals = false},
    {.language = "nl",
     .never_ends =
         "dhr mevr mw mej dr drs prof ir ing mr ds St bijv bv m.a.w d.w.z o.a t.a.v i.p.v m.b.t "
         "t.o.v n.a.v o.l.v vgl cf ca evt resp incl excl z.g zgn i.v.m m.n a.u.b Dhr Mevr Dr Prof",
     .before_number = "nr nrs blz p pp fig art hfst tel afb vol",
     .may_end =
         "enz etc e.d e.a jan feb mrt apr jun jul aug sept okt nov dec v.Chr n.Chr Chr N.V B.V max "
         "min Jr sr jl ll",
     .first_words =
         "Aan Al Alle Als Bij Daar Daarom Dan Dat De Deze Die Dit Door Dus Een Er Ga Haar Heeft "
         "Het "
         "Hier Hij Hoe Hun Ik Ik In Is Je Jij Maar Men Met Mijn Na Naar Niet Nu Of Om Omdat Ook Op "
         "Over Sinds Te Toen Tot Tussen U Uit Van Veel Volgens Voor Waar Waarom Want Wat We Wie "
         "Wij "
         "Ze Zij Zijn Zo Zo",
     .ordinary_words = "",
     .ordinals = false},
    {.language = "ru",
     .never_ends = "г-н г-жа гг им св проф акад доц д-р ген полк т.е т.к т.н см ср напр ул пр "
                   "просп пл пос д обл "
                   "р-н т.наз кн",
     .before_number = "стр с рис табл гл ст п пп № т вып тел кв корп стр-ца",
     .may_end = "г гг в вв т.д т.п др пр и.т.д и.т.п н.э до.н.э руб коп тыс млн млрд янв февр мар "
                "апр июн июл авг "
                "сент окт нояб дек мин сек час м км кг см мм",
     .first_words =
         "А Без Были Было Был Была В Вам Вот Все Всё Вы Где Да Для До Его Ее Её Если Есть Еще Ещё "
         "За "
         "Здесь И Из Или Им Их К Как Какой Когда Который Кто Мне Мой Мы На Надо Нам Не Нет Но О Об "
         "Однако Он Она Они Оно От По Под После Потом При Про С Сам Свой Сегодня Со Так Также Там "
         "То Тогда Только Ты У Уже Хотя Что Чтобы Эта Эти Это Этот Я",
     .ordinary_words = "",
     .ordinals = false},
    {.language = "uk",
     .never_ends =
         "ім св проф акад доц д-р ген див пор напр вул просп пл тобто т.зв п м смт обл р-н",
     .before_number = "стор с рис табл гл ст ч т вип тел",
     .may_end = "р рр ст т.д т.п ін н.е грн коп тис млн млрд січ лют бер квіт трав черв лип серп "
                "вер жовт лист груд",
     .first_words =
         "А Але Без Були Було Був Була В Ви Від Він Вона Вони Воно Все Для До Є Й З За Зараз І Із "
         "Її Його Їх К Коли Ми Моя На Не Ні Ось Під Після По При Про Та Так Також Там Те Ти Тоді "
         "У Хто Це Цей Ця Ці Через Чи Що Щоб Я Як Якщо",
     .ordinary_words = "",
     .ordinals = false},
    {.language = "pl",
     .never_ends =
         "p pp pan ks św prof doc mgr inż hab dr gen płk kpt mjr por tj tzn np m.in m.inn ww tzw "
         "ul al pl os im wg zob por ok ob red Św Ks Prof Dr",
     .before_number = "nr nry s str rys tab art ust par pkt poz t rozdz tel godz",
     .may_end = "itd itp etc r w ww n.e p.n.e zł gr tys mln mld proc stycz lut kwiet czerw lip "
                "sierp wrzes paźdz list "
                "grud min max ur zm woj pow gm",
     .first_words = "A Ale Bo Był Była Było Być Co Czy Dla Do Dlatego Gdy Gdzie I Ich Ja Jak "
                    "Jednak Jej Jego Jest "
                    "Jeśli Kiedy Kto Który Ma Mam Może Na Nad Nie O Od On Ona One Oni Oraz Po Pod "
                    "Ponieważ Potem "
                    "Przed Przez Przy Są Się Skąd Ta Tak Także Tam Te Ten Teraz To Tu Tutaj Ty Tym "
                    "W Wczoraj We "
                    "Więc Wszyscy Wszystko Z Za Ze Że",
     .ordinary_words = "",
     .ordinals = true},
    {.language = "cs",
     .never_ends = "p pí sl dr prof doc ing mgr bc JUDr MUDr RNDr PhDr PaedDr Ing Mgr Bc Dr Prof "
                   "Doc sv tj tzn "
                   "tzv např popř resp mj zejm srov viz ul nám gen plk kpt por",
     .before_number = "č čís s str obr tab odst písm čl kap sv tel",
     .may_end = "atd apod aj atp r l n.l př.n.l st stol Kč hal tis mil mld led ún břez dub kvě "
                "červ srp zář říj list "
                "pros min max hod",
     .first_words = "A Ale Ani Asi Až Bez Bude Byl Byla Bylo Byly Co Další Do Dnes I Já Jak Jako "
                    "Je Jeho Jejich "
                    "Její Jen Jestli Jsem Jsou Když Kde Kdo Který Která Které Ke Má Mezi My Na Nad "
                    "Náš Ne Není Než O "
                    "Od On Ona Oni Po Pod Podle Potom Pro Proč Proto Protože Při Před S Se Si Tak "
                    "Také Tam Tato Ten "
                    "Tento Teď To Toto Tu Ty U V Ve Však Však Vy Z Za Ze",
     .ordinary_words = "",
     .ordinals = true},
    {.language = "sv",
     .never_ends =
         "dr prof hr fr fru t.ex bl.a d.v.s dvs s.k f.d jfr resp ca inkl exkl S:t p.g.a m.a.o",
     .before_number = "nr s sid fig kap art bd tel",
     .may_end = "osv etc m.m m.fl o.s.v o.d f.Kr e.Kr jan febr mars apr aug sept okt nov dec kl st "
                "tr max min mkt",
     .first_words = "Alla Att Av De Den Denna Det Detta Dock Du Där Då Efter En Ett För Från Han "
                    "Har Här Hon Hur I "
                    "Idag Inte Jag Kan Med Men Mot När Nu Och Också Om På Sedan Som Så Till Under "
                    "Ut Vad Var Vi "
                    "Vid Vilken Är Även",
     .ordinary_words = "",
     .ordinals = false},
    {.language = "da",
     .never_ends =
         "hr fr dr prof f.eks fx bl.a dvs d.v.s s.k såk jf ca inkl ekskl pga p.g.a ifm ift mht St",
     .before_number = "nr s side fig kap art bd tlf stk",
     .may_end =
         "osv mv m.v m.m etc f.Kr e.Kr jan febr apr aug sept okt nov dec kl kr mio mia maks min",
     .first_words =
         "Alle At Da De Den Denne Der Derfor Det Dette Du En Er Et Efter For Fra Han Har Her Hun "
         "Hvad Hvem Hvis Hvor Hvordan I Ikke Jeg Kan Med Men Mod Nu Når Og Også Om På Siden Som Så "
         "Til "
         "Under Var Ved Vi",
     .ordinary_words = "",
     .ordinals = true},
    {.language = "nb",
     .never_ends = "hr fr dr prof f.eks bl.a dvs d.v.s s.k jf ca inkl ekskl pga p.g.a ifm mht St",
     .before_number = "nr s side fig kap art bd tlf pkt",
     .may_end =
         "osv mv m.v m.m etc f.Kr e.Kr jan feb apr aug sept okt nov des kl kr mill mrd maks min",
     .first_words =
         "Alle At Da De Den Denne Der Derfor Det Dette Du En Er Et Etter For Fra Han Har Her Hun "
         "Hva Hvem Hvis Hvor Hvordan I Ikke Jeg Kan Med Men Mot Nå Når Og Også Om På Siden Som Så "
         "Til "
         "Under Var Ved Vi",
     .ordinary_words = "",
     .ordinals = true},
    {.language = "fi",
     .never_ends = "esim mm ts ns nk ks vrt tri prof dos toht hra rva nti noin n yl ent synt",
     .before_number = "nro s ss kuv taul art puh klo",
     .may_end = "jne yms ym eaa jaa eKr jKr v vs milj mrd tammi helmi maalis huhti max min kpl",
     .first_words = "Ei Eivät En Entä Että Hän He Ja Jos Joten Kaikki Koska Kuka Kun Kuten Me "
                    "Miksi Mikä Missä "
                    "Mutta Myös Ne Niin Nyt Näin Nämä Olen On Ovat Se Sen Siellä Silloin Sitten "
                    "Tai Te Tämä Tänään "
                    "Tässä Vaikka Vain Voi",
     .ordinary_words = "",
     .ordinals = true},
    {.language = "hu",
     .never_ends = "dr prof Dr Prof pl ún ill kb ld vö ti ui Szt özv ifj id",
     .before_number = "sz o old ábr tábl fej tel évf",
     .may_end = "stb i.e i.sz Kr u u.n jan febr márc ápr máj jún júl aug szept okt nov dec kft Kft "
                "Rt Zrt max min",
     .first_words = "A Az Azonban Azért Azt És De Ez Ezek Ezért Ezt Egy Én Ha Hogy Hol Így Itt Ki "
                    "Kik Ma Már Meg "
                    "Mert Mi Miért Mint Most Nem Nincs Ő Ők Ott Pedig Sok Szerintem Te Tegnap "
                    "Tehát Ti Van Vannak",
     .ordinary_words = "",
     .ordinals = true},
    {.language = "ro",
     .never_ends = "dl dna d-l d-na dra dr prof ing av Sf sf ex de.ex cf vs aprox str bd",
     .before_number = "nr p pag fig vol art alin cap tel sec",
     .may_end = "etc ș.a ş.a ș.a.m.d î.Hr d.Hr e.n î.e.n S.A S.R.L ian feb mar apr iun iul aug "
                "sept oct nov dec max min",
     .first_words = "A Acest Această Aceste Acum Aici Am Ar Are Astfel Au Ce Cei Cel Cine Când Cu "
                    "Cum Dacă Dar De "
                    "Deci După Ea Ei El Ele Este Eu Fără Îl În Într La Mai Noi Nu O Pe Pentru Prin "
                    "Sau Se Și Sunt "
                    "Toate Toți Tu Un Unde Voi",
     .ordinary_words = "",
     .ordinals = false},
};

}  // namespace

std::span<const AbbreviationLists> abbreviation_lists() { return kLists; }

}  // namespace fuselage
