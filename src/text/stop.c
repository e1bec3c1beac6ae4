/*
 * Stop word lists. They are short on purpose: a word that is missing here
 * only keeps its idf weight, a content word that stands here is lost.
 */
#include "text/stop.h"

#include <string.h>

/* Words separated by one blank, a blank at both ends. */
static const char english[] =
	" a an the and or but if then of in on at by for with from to into"
	" about as is are was were be been being am do does did done have has"
	" had having i me my mine we our ours us you your yours he him his she"
	" her hers it its they them their theirs this that these those there"
	" here what which who whom whose when where why how can could should"
	" would will shall may might must not so than too very just also any"
	" some such own only please tell said say says than while because"
	" through until dont doesnt didnt isnt arent wasnt werent cant couldnt"
	" wouldnt shouldnt wont im ive youre youve theyre theyve weve were hed"
	" hes shes whats wheres whos lets much many ever ";
static const char spanish[] =
	" el la los las un una unos unas y e o u de del al a en con por para"
	" sin sobre entre que como cual cuales quien quienes cuando donde"
	" cuanto cuantos cuanta cuantas porque es son era eran fue fueron ser"
	" estar esta estan estaba hay ha han he haber se su sus mi mis tu tus"
	" me te le les nos lo yo ella ellos ellas nosotros este esto estos"
	" estas ese esa eso esos esas aquel no si mas muy ya tambien pero ";
static const char portuguese[] =
	" o a os as um uma uns umas e ou de do da dos das em no na nos nas"
	" com por pelo pela para sem sobre entre que como qual quais quem"
	" quando onde quanto quantos porque e sao era eram foi foram ser estar"
	" esta estao estava ha tem ter se seu sua seus suas meu minha meus"
	" minhas me te lhe nos eu ele ela eles elas voce voces este esta isto"
	" esse essa isso aquele aquela nao sim mais muito ja tambem mas ao "
	"aos ";
static const char german[] =
	" der die das den dem des ein eine einen einem einer eines und oder"
	" aber wenn von vom zu zum zur in im an am auf aus bei mit nach fur"
	" uber unter vor durch ohne um als wie was wer wen wem wessen wann wo"
	" warum wieso welche welcher welches welchen ist sind war waren sein"
	" bin bist wird werden wurde hat haben hatte hatten kann konnen soll"
	" sollen muss mussen ich du er sie es wir ihr mich mir dich dir ihn ihm"
	" uns euch mein meine meinen unser unsere nicht kein keine auch nur"
	" noch schon so dass da hier dort ";
static const char french[] =
	" le la les l un une des du de d et ou mais si dans en sur sous par"
	" pour avec sans chez entre que qu quoi qui quel quelle quels quelles"
	" comment quand ou pourquoi combien est sont etait etaient etre ete a"
	" ont avait avoir c ce cet cette ces ca cela son sa ses mon ma mes ton"
	" ta tes notre nos votre vos leur leurs je j tu il elle on nous vous"
	" ils elles me m te t se s lui y ne n pas plus aussi au aux ";
/* folded: ё is е and й is и */
static const char russian[] =
	" и в во на с со к ко у о об от до из за по под над при для без через"
	" а но или если что чтобы как какои какая какое какие какого когда где"
	" куда откуда кто кого кому чеи почему зачем сколько не ни да нет же"
	" ли бы был была было были быть есть это этот эта эти того тот та те"
	" то я ты он она оно мы вы они меня мне тебя тебе его ему ее еи нас"
	" нам вас вам их им мои моя мое наш ваш свои так там тут здесь уже еще"
	" только тоже ";
static const char korean[] =
	" 그 이 저 것 수 등 및 나 너 우리 내 제 저희 무엇 뭐 무슨 어디 언제 "
	"누구"
	" 왜 어떻게 얼마나 얼마 어떤 어느 몇 있다 있는 있나요 있어 있었 "
	"있었나요"
	" 없다 없는 하다 했다 하는 했던 했나요 했지 한 할 해 해줘 알려줘 알려"
	" 대해 대한 위해 위한 그리고 그런데 하지만 또는 또 더 좀 잘 안 못 때 "
	"이다"
	" 인가요 뭐였지 무엇인가요 ";

static const char *const lists[] = {
	[STOP_EN] = english, [STOP_ES] = spanish, [STOP_PT] = portuguese,
	[STOP_DE] = german,  [STOP_FR] = french,  [STOP_RU] = russian,
	[STOP_KO] = korean,
};

bool stop_word(enum stop_language lang, const char *word, size_t len)
{
	const char *p = lists[lang] + 1;

	while (*p) {
		const char *blank = strchr(p, ' ');

		if ((size_t)(blank - p) == len && !memcmp(p, word, len))
			return true;
		p = blank + 1;
	}
	return false;
}

/*
 * Single characters stand here only where few content words hold them; the
 * common ones that do are listed as content.
 */
static const char han_stop[] =
	" 的 了 吗 呢 吧 啊 呀 嘛 么 是 们 这 那 哪 谁 在 有 和"
	" 与 也 都 就 很 把 被 之 其 啥 咋 还 又 而 但 或 让 请 几"
	" 我们 你们 他们 她们 它们 咱们 自己 我的 你的 他的 她的 它的 我家"
	" 这个 那个 这些 那些 这里 那里 这样 那样 这么 那么 这种 那种 这次 那次"
	" 这是 那是 什么 什么样 什么时候 什么样的 是什么 叫什么 有什么 怎么 "
	"怎样"
	" 怎么样 怎么办 怎么做 如何 为什么 为何 为啥 何时 何处 何地 哪里 哪儿 "
	"哪个"
	" 哪些 哪天 哪位 哪种 哪一 哪一个 哪年 哪几个 谁的 是谁 多少 几个 几号 "
	"几点"
	" 几次 几天 多久 多长 多长时间 多大 一下 一个 一些 一种 一位 请问 告诉 "
	"帮我"
	" 给我 让我 关于 对于 由于 因为 所以 如果 但是 而且 或者 还是 以及 还有"
	" 已经 曾经 正在 没有 不是 就是 都是 也是 是不是 有没有 能不能 会不会"
	" 要不要 可不可以 可以 能够 应该 想要 是否 于是 为了 除了 其他 其它 "
	"其中"
	" 其实 其余 之前 之后 以前 以后 之间 时候 的时候 当时 后来 记得 知道 "
	"觉得"
	" 提到 提过 说过 在哪 在哪里 在哪儿 而是 而言 或许 也许 也就 还要 还会 "
	"还能"
	" 有些 有的 所有 并且 那时 那天 这天 到底 究竟 ";
/* Too common to be looked for alone, though pairs with them mean something:
 * 我喜 of 我喜欢 stands where the words stand. */
static const char han_weak[] = " 我 你 您 他 她 它 过 给 号 月 日 年 所 ";
static const char han_content[] =
	" 目的 的确 的士 标的 了解 明了 罢了 存在 所在 在线 在职 实在 内在 外在"
	" 潜在 在校 在世 在任 在野 有效 有限 有趣 有名 有机 有利 有色 有害 有毒"
	" 有轨 有氧 有力 有关 拥有 私有 国有 公有 占有 享有 富有 特有 固有 原有"
	" 持有 含有 具有 和平 共和 总和 饱和 柔和 缓和 温和 和谐 和解 和尚 和服"
	" 和声 调和 中和 参与 与会 与其 首都 都市 成都 京都 古都 都城 帝都 "
	"都江堰"
	" 迁都 定都 建都 成就 就业 就职 就绪 就诊 就医 造就 就读 就任 把握 把手"
	" 火把 被子 被告 棉被 植被 之一 其次 极其 土耳其 还款 还原 归还 偿还 "
	"还债"
	" 返还 还清 生还 奖还 因而 反而 让步 转让 出让 割让 他人 吉他 其他人 "
	"我国"
	" 自我 你好 哪吒 刹那 那不勒斯 也门 网吧 酒吧 贴吧 吧台 是非 国是 请求"
	" 申请 邀请 请假 请客 聘请 请教 哥们 您好 几何 几乎 茶几 几率 几内亚 "
	"又名"
	" 有人 有时 之类 呢绒 吗啡 但丁 和田 和记 大和 有限公司 ";

/* Words are of three bytes at least; most differ in the third already. */
static size_t longest(const char *list, const char *s, size_t len)
{
	const char *p = list + 1;
	size_t best = 0;

	if (len < 3)
		return 0;

	while (*p) {
		const char *blank = strchr(p, ' ');
		size_t n = (size_t)(blank - p);

		if (n > best && n <= len && p[2] == s[2] && !memcmp(p, s, n))
			best = n;
		p = blank + 1;
	}
	return best;
}

size_t stop_han(const char *s, size_t len, bool *stop)
{
	size_t a = longest(han_stop, s, len);
	size_t b = longest(han_content, s, len);

	*stop = a >= b;
	return a >= b ? a : b;
}

bool stop_han_alone(const char *s, size_t len)
{
	return longest(han_weak, s, len) == len ||
	       longest(han_stop, s, len) == len;
}

static const char kana_head[] =
	" の は が を に で と も へ や か では には とは でも にも から まで "
	"より"
	" など について という として による において への での との だけ しか"
	" ほど なら だった だ である です ";
static const char kana_tail[] =
	" です ます でした ました ません ますか ですか でしたか ましたか だった"
	" した する して している していた していますか ください か ね よ たか"
	" どこ だれ なに いつ どう なぜ どの どんな どれ これ それ あれ この "
	"その"
	" こと もの とき ときに は が を に で と の も ";
static const char kana_words[] =
	" どこ だれ なに いつ どう どうやって なぜ どの どんな どれ これ それ "
	"あれ"
	" この その あの こと もの とき いる ある する した して いた あった "
	"です"
	" ます でした ました ですか ますか でしたか ましたか ください か ";

/* Longest word of the list that s ends with. */
static size_t longest_end(const char *list, const char *s, size_t len)
{
	const char *p = list + 1;
	size_t best = 0;

	while (*p) {
		const char *blank = strchr(p, ' ');
		size_t n = (size_t)(blank - p);

		if (n > best && n <= len && !memcmp(p, s + len - n, n))
			best = n;
		p = blank + 1;
	}
	return best;
}

void stop_kana(const char *s, size_t len, bool after_word, size_t *head,
	       size_t *tail)
{
	size_t a = after_word ? longest(kana_head, s, len) : 0, n;

	while (a < len && (n = longest(kana_words, s + a, len - a)))
		a += n;
	*head = a;
	*tail = longest_end(kana_tail, s + a, len - a);
	/* of a word of its own only a whole ending goes: りんごは, not りも */
	if (!after_word && a == 0 && *tail < len && *tail <= 3)
		*tail = 0;
}
